import { Schema } from "effect"
import { SessionEntry } from "@nimlet/protocol"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(SessionEntry))
const entry = decode(`{"type":"user","role":"user","content":[{"type":"text","text":"hello"}]}`)
console.log(entry.type)
