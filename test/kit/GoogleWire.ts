/**
 * Google's Gemini API (`POST /v1beta/models/MODEL:streamGenerateContent?alt=sse`) as the stub speaks it. Calls come whole, an
 * event each; it remembers the signatures that it gave with them and wants them back.
 */
import { pieces } from "./Scenario.ts"
import { type Answer, base64At, type Frame, frame, type Json, listAt, objectAt, onceOnly, refuse, stringAt, textAt, toolNameAt, type Wire } from "./Wire.ts"

const signatureOf = (text: string): string => Buffer.from(`signed ${text}`).toString("base64")

const status: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"
}
const failure = (code: number, message: string): Json => ({ error: { code, message, status: status[code] ?? "INTERNAL" } })

/** Checks one part and gives the ids of what it calls or answers. */
const checkPart = (part: Json, role: unknown, at: string, given: ReadonlyMap<string, ReadonlySet<unknown>>): void => {
  const kinds = ["text", "inlineData", "functionCall", "functionResponse"].filter((kind) => part[kind] !== undefined)
  if (kinds.length !== 1) refuse(`${at}: exactly one kind of data is expected, there are ${kinds.length}`)
  switch (kinds[0]) {
    case "text":
      return void textAt(part["text"], `${at}.text`)
    case "inlineData": {
      const data = objectAt(part["inlineData"], `${at}.inlineData`)
      stringAt(data["mimeType"], `${at}.inlineData.mimeType`)
      return base64At(data["data"], `${at}.inlineData.data`)
    }
    case "functionCall": {
      if (role !== "model") refuse(`${at}.functionCall: only the model calls`)
      const call = objectAt(part["functionCall"], `${at}.functionCall`)
      toolNameAt(call["name"], `${at}.functionCall.name`, 64)
      objectAt(call["args"], `${at}.functionCall.args`)
      if (given.get(String(call["id"]))?.has(part["thoughtSignature"]) === false) refuse(`${at}: the call lacks the thought_signature that it came with`)
      return
    }
    default: {
      if (role !== "user") refuse(`${at}.functionResponse: it belongs to role user`)
      const response = objectAt(part["functionResponse"], `${at}.functionResponse`)
      toolNameAt(response["name"], `${at}.functionResponse.name`, 64)
      objectAt(response["response"], `${at}.functionResponse.response`)
    }
  }
}

const idsOf = (parts: ReadonlyArray<Json>, kind: "functionCall" | "functionResponse"): ReadonlyArray<string> =>
  parts.flatMap((part) => part[kind] === undefined ? [] : [String(objectAt(part[kind], kind)["id"])])

const checkContents = (contents: ReadonlyArray<unknown>, given: ReadonlyMap<string, ReadonlySet<unknown>>): void => {
  const once = onceOnly("call ids")
  let open: ReadonlyArray<string> = []
  for (const [n, value] of contents.entries()) {
    const at = `contents[${n}]`
    const content = objectAt(value, at)
    const { role } = content
    if (role !== "user" && role !== "model") refuse(`${at}.role: user or model is expected`)
    const parts = listAt(content["parts"], `${at}.parts`).map((part, k) => objectAt(part, `${at}.parts[${k}]`))
    for (const [k, part] of parts.entries()) checkPart(part, role, `${at}.parts[${k}]`, given)
    const answered = idsOf(parts, "functionResponse")
    if (answered.toSorted().join() !== open.toSorted().join()) {
      refuse(`${at}: the number of function response parts must be equal to that of the function call parts of the turn before`)
    }
    open = idsOf(parts, "functionCall").map((id) => once(id, at))
  }
  if (open.length > 0) refuse("contents: function calls have no response")
  if (objectAt(contents.at(-1), "contents")["role"] !== "user") refuse("contents: the last turn must be the user's")
}

const usageOf = ({ usage }: Answer) => {
  const promptTokenCount = usage.input + usage.cacheRead + usage.cacheWrite
  return { promptTokenCount, candidatesTokenCount: usage.output, totalTokenCount: promptTokenCount + usage.output, ...(usage.cacheRead === 0 ? {} : { cachedContentTokenCount: usage.cacheRead }) }
}

const finishReason = ({ finish }: Answer): string => finish === "length" ? "MAX_TOKENS" : finish === "filter" ? "SAFETY" : "STOP"

/** Arguments as the service sends them, an object; text that is none goes out as it stands. */
const argsOf = (args: string): unknown => {
  try {
    return JSON.parse(args) as unknown
  } catch {
    return args
  }
}

/** A fresh endpoint with its own memory of the signatures it gave. */
export const makeGoogleWire = (): Wire => {
  const given = new Map<string, ReadonlySet<unknown>>()
  const callPart = ({ args, id, name }: Answer["tools"][number], signature: string | undefined): Json => {
    // An id that was given twice may come back with either.
    if (signature !== undefined || given.has(id)) given.set(id, new Set([...given.get(id) ?? [], signature]))
    return { functionCall: { id, name, args: argsOf(args) }, ...(signature === undefined ? {} : { thoughtSignature: signature }) }
  }
  function* partsOf(answer: Answer): Generator<readonly [part: Json, text?: string]> {
    for (const text of pieces(answer.thinking, 8)) yield [{ text, thought: true }]
    for (const text of answer.text) yield [{ text }, text]
    // The first call of an answer is signed, as Gemini 3 does.
    for (const [index, call] of answer.tools.entries()) yield [callPart(call, index === 0 ? signatureOf(answer.serial) : undefined)]
  }
  function* frames(answer: Answer): Generator<Frame> {
    const event = (part: Json | undefined, last: boolean, text?: string) =>
      frame({
        candidates: [{ content: { role: "model", parts: part === undefined ? [] : [part] }, index: 0, ...(last ? { finishReason: finishReason(answer) } : {}) }],
        usageMetadata: usageOf(answer),
        modelVersion: "stub",
        responseId: `resp_${answer.serial}`
      }, undefined, text)
    for (const [part, text] of partsOf(answer)) yield event(part, false, text)
    yield event({ text: "" }, true)
  }
  return {
    api: "google",
    path: /^\/v1beta\/models\/[^/]+:(streamGenerateContent|generateContent)$/,
    streams: (path) => path.includes(":streamGenerateContent"),
    toolPrefix: "fc_",
    check: (body, headers) => {
      if ((headers["x-goog-api-key"] ?? "") === "") refuse("API key not found", 401)
      if (body["systemInstruction"] !== undefined) {
        for (const part of listAt(objectAt(body["systemInstruction"], "systemInstruction")["parts"], "systemInstruction.parts")) textAt(objectAt(part, "systemInstruction.parts")["text"], "systemInstruction.parts.text")
      }
      if (body["tools"] !== undefined) {
        const once = onceOnly("tool names")
        for (const item of listAt(body["tools"], "tools")) {
          for (const [k, value] of listAt(objectAt(item, "tools")["functionDeclarations"], "functionDeclarations").entries()) {
            once(toolNameAt(objectAt(value, `functionDeclarations[${k}]`)["name"], `functionDeclarations[${k}].name`, 64), `functionDeclarations[${k}].name`)
          }
        }
      }
      checkContents(listAt(body["contents"], "contents"), given)
    },
    frames,
    whole: (answer) => ({
      candidates: [{ content: { role: "model", parts: [...partsOf(answer)].map(([part]) => part) }, index: 0, finishReason: finishReason(answer) }],
      usageMetadata: usageOf(answer)
    }),
    failure,
    failureFrame: (message) => frame(failure(503, message))
  }
}
