/**
 * A quick look at a parsed line. Pure. A long session is checked line by line before its first answer, and nearly all of its
 * lines have one of a few shapes; what is not plainly one of them is left to the schema.
 */
import type { JsonObject, SessionEntry } from "@nimlet/protocol"

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
const isString = (value: unknown): boolean => typeof value === "string"
const mayBeString = (value: unknown): boolean => value === undefined || typeof value === "string"
const mayBeBoolean = (value: unknown): boolean => value === undefined || typeof value === "boolean"
const mayBeNumber = (value: unknown): boolean => value === undefined || typeof value === "number"
const mayBeObject = (value: unknown): boolean => value === undefined || isObject(value)
const mayBeList = (value: unknown, holds: (item: unknown) => boolean): boolean => value === undefined || (Array.isArray(value) && value.every(holds))

const isPart = (part: unknown): boolean => {
  if (!isObject(part) || !mayBeObject(part["provider_data"])) return false
  switch (part["type"]) {
    case "text":
      return isString(part["text"])
    case "thinking":
      return isString(part["thinking"]) && isString(part["signature"])
    case "tool_use":
      return isString(part["id"]) && isString(part["name"]) && part["input"] !== undefined && mayBeString(part["parse_error"]) &&
        mayBeBoolean(part["hosted"]) && mayBeString(part["thought_signature"])
    default:
      return false
  }
}

const isContent = (content: unknown): boolean => Array.isArray(content) && content.every(isPart)

const mayBeUsage = (usage: unknown): boolean =>
  usage === undefined || (isObject(usage) && typeof usage["input_tokens"] === "number" && typeof usage["output_tokens"] === "number" &&
    mayBeNumber(usage["cache_read_tokens"]) && mayBeNumber(usage["cache_write_tokens"]))

const isChangedFile = (file: unknown): boolean =>
  isObject(file) && isString(file["path"]) && (file["before"] === null || mayBeString(file["before"])) && isString(file["after"]) && mayBeString(file["snapshot"])

/** Whether the value, as JSON has it, is an entry beyond doubt. `false` says nothing: the schema decides. */
export const isCommonEntry = (entry: unknown): entry is SessionEntry => {
  if (!isObject(entry) || !mayBeString(entry["entry_id"]) || !mayBeString(entry["at"])) return false
  switch (entry["type"]) {
    case "user":
      return entry["role"] === "user" && isContent(entry["content"])
    case "assistant":
      return entry["role"] === "assistant" && isContent(entry["content"]) && mayBeString(entry["model"]) && mayBeString(entry["provider"]) &&
        mayBeString(entry["requested_model"]) && mayBeBoolean(entry["cut"]) && mayBeNumber(entry["duration_ms"]) && mayBeUsage(entry["usage"])
    case "tool_result":
      return isString(entry["id"]) && isString(entry["output"]) && typeof entry["is_error"] === "boolean" && entry["images"] === undefined &&
        mayBeString(entry["tool"]) && mayBeBoolean(entry["terminate"]) && mayBeObject(entry["details"]) && mayBeList(entry["changed_by"], isString) &&
        mayBeNumber(entry["duration_ms"]) && mayBeNumber(entry["hooks_ms"]) && mayBeList(entry["files"], isChangedFile)
    case "extension":
      return isString(entry["extension"]) && entry["data"] !== undefined && mayBeString(entry["custom_type"])
    default:
      return false
  }
}
