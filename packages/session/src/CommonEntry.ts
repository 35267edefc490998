/**
 * A quick look at a parsed line. Pure. A long session is checked line by line before its first answer, and nearly all of its
 * lines have one of a few shapes; what is not plainly one of them is left to the schema.
 */
import type { JsonObject } from "@nimlet/protocol"

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
const isString = (value: unknown): boolean => typeof value === "string"
const mayBe = (value: unknown, type: "string" | "boolean" | "number"): boolean => value === undefined || typeof value === type
const mayBeObject = (value: unknown): boolean => value === undefined || isObject(value)

const isPart = (part: unknown): boolean => {
  if (!isObject(part) || !mayBeObject(part["provider_data"])) return false
  switch (part["type"]) {
    case "text":
      return isString(part["text"])
    case "thinking":
      return isString(part["thinking"]) && isString(part["signature"])
    case "tool_use":
      return isString(part["id"]) && isString(part["name"]) && part["input"] !== undefined && mayBe(part["parse_error"], "string") &&
        mayBe(part["hosted"], "boolean") && mayBe(part["thought_signature"], "string")
    default:
      return false
  }
}

const isContent = (content: unknown): boolean => Array.isArray(content) && content.every(isPart)

const mayBeUsage = (usage: unknown): boolean =>
  usage === undefined || (isObject(usage) && typeof usage["input_tokens"] === "number" && typeof usage["output_tokens"] === "number" &&
    mayBe(usage["cache_read_tokens"], "number") && mayBe(usage["cache_write_tokens"], "number"))

/** Whether the value, as JSON has it, is an entry beyond doubt. `false` says nothing: the schema decides. */
export const isCommonEntry = (entry: JsonObject): boolean => {
  if (!mayBe(entry["entry_id"], "string") || !mayBe(entry["at"], "string")) return false
  switch (entry["type"]) {
    case "user":
      return entry["role"] === "user" && isContent(entry["content"])
    case "assistant":
      return entry["role"] === "assistant" && isContent(entry["content"]) && mayBe(entry["model"], "string") && mayBe(entry["provider"], "string") &&
        mayBe(entry["requested_model"], "string") && mayBe(entry["cut"], "boolean") && mayBe(entry["duration_ms"], "number") &&
        mayBeUsage(entry["usage"])
    case "tool_result":
      return isString(entry["id"]) && isString(entry["output"]) && typeof entry["is_error"] === "boolean" && entry["images"] === undefined && entry["files"] === undefined &&
        mayBe(entry["tool"], "string") && mayBe(entry["terminate"], "boolean") && mayBeObject(entry["details"]) &&
        mayBe(entry["duration_ms"], "number") && mayBe(entry["hooks_ms"], "number")
    case "extension":
      return isString(entry["extension"]) && entry["data"] !== undefined && mayBe(entry["custom_type"], "string")
    default:
      return false
  }
}
