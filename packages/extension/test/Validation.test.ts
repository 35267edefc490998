import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeManifest } from "../src/ManifestFile.ts"
import { decodeRegister } from "../src/RegisterLine.ts"
import { offerFaults } from "../src/RegisterLine/OfferFaults.ts"

const reason = <A>(result: Result.Result<A, string>) => Result.isFailure(result) ? result.failure : "valid"

describe("decodeManifest", () => {
  const good = { name: "notes", command: ["./extension.py"] }

  // E-019 E-022 E-023 E-027
  it.each([
    ["[]", "manifest must be an object"],
    ["null", "manifest must be an object"],
    [JSON.stringify({ command: ["x"] }), "missing name"],
    [JSON.stringify({ ...good, name: "  " }), "missing name"],
    [JSON.stringify({ ...good, name: 3 }), "missing name"],
    [JSON.stringify({ name: "notes" }), "command must be an array"],
    [JSON.stringify({ ...good, command: "x" }), "command must be an array"],
    [JSON.stringify({ ...good, command: ["x", 1] }), "command entries must be strings"],
    [JSON.stringify({ ...good, command: [""] }), "command entries must be strings"],
    [JSON.stringify({ ...good, command: [] }), "command must not be empty"],
    ...["30", -1, 0, 1.5].map((value) => [
      JSON.stringify({ ...good, response_timeout_seconds: value }),
      "response_timeout_seconds must be a positive integer or null"
    ]),
    [JSON.stringify({ ...good, on_failure: "shut" }), "on_failure must be \"open\" or \"block\""]
  ])("refuses %s with its sentence", (text, expected) => {
    assert.strictEqual(reason(decodeManifest(text)), expected)
  })

  it("passes the parser's message on when it is not JSON", () => {
    assert.match(reason(decodeManifest("{\"name\": ")), /JSON/)
  })

  // E-027
  it("trims the name, ignores unknown keys, and takes null as no limit", () => {
    const manifest = decodeManifest(JSON.stringify({ ...good, name: " notes ", response_timeout_seconds: null, extra: 1 }))
    assert.deepStrictEqual(Result.getOrThrow(manifest), { name: "notes", command: ["./extension.py"], response_timeout_seconds: null })
  })
})

describe("decodeRegister", () => {
  const tool = { name: "save", description: "Saves.", input_schema: { type: "object" } }
  const mode = { id: "review", label: "Review", prompt: "Only look.", permissions: "read_only", tools: ["read", "grep"] }
  const provider = {
    name: "mine",
    api: "openai-chat-completions",
    api_url: "https://models.example/v1",
    default_model: "m1",
    models: ["m1", "m2"],
    api_key_env: ["MINE_KEY"]
  }
  const register = (fields: object) => decodeRegister({ type: "register", commands: [], ...fields })

  // E-068 E-069 E-071 E-072 E-073 E-078 E-080 E-081 E-082 E-267
  it.each<readonly [object, string]>([
    [{ type: "update" }, "expected register response"],
    [{ commands: undefined }, "register commands must be an array"],
    [{ commands: {} }, "register commands must be an array"],
    [{ commands: [{ description: "no name" }] }, "registered commands require a name"],
    [{ commands: [{ name: 3 }] }, "registered commands require a name"],
    [{ events: "tool_call" }, "register events must be an array"],
    [{ events: [1] }, "register events must be strings"],
    [{ tools: {} }, "register tools must be an array"],
    [{ tools: [{ ...tool, name: " " }] }, "registered tools require name, description, and input_schema"],
    [{ tools: [{ ...tool, description: "" }] }, "registered tools require name, description, and input_schema"],
    [{ tools: [{ ...tool, description: 3 }] }, "registered tools require name, description, and input_schema"],
    [{ tools: [{ ...tool, input_schema: undefined }] }, "registered tools require name, description, and input_schema"],
    [{ tools: [{ ...tool, input_schema: [] }] }, "registered tools require name, description, and input_schema"],
    [{ tools: [tool, null] }, "registered tools require name, description, and input_schema"],
    [{ tools: [{ ...tool, capabilities: "read" }] }, "invalid capabilities for tool 'save': capabilities must be an array"],
    [{ tools: [{ ...tool, capabilities: [1] }] }, "invalid capabilities for tool 'save': capabilities must contain strings"],
    [{ tools: [{ ...tool, capabilities: ["fly"] }] }, "invalid capabilities for tool 'save': unknown capability: fly"],
    [{ modes: {} }, "register modes must be an array"],
    ...[null, { ...mode, id: 1 }, { ...mode, label: " " }, { ...mode, prompt: undefined }, { ...mode, permissions: "root" }].map((wrong) =>
      [{ modes: [mode, wrong] }, "register modes require id, label, prompt, and permissions"] as const),
    [{ modes: [{ ...mode, id: "plan" }] }, "register modes cannot use reserved id 'plan'"],
    [{ modes: [{ ...mode, id: " Act " }] }, "register modes cannot use reserved id 'Act'"],
    [{ modes: [mode, { ...mode, label: "Other" }] }, "duplicate register mode id 'review'"],
    ...[undefined, [], "read", [1], [""]].map((tools) =>
      [{ modes: [{ ...mode, tools }] }, "register modes require a non-empty tools array"] as const),
    [{ providers: {} }, "register providers must be an array"],
    ...["x", { ...provider, api: "anthropic" }, { ...provider, api: undefined }].map((wrong) =>
      [{ providers: [wrong] }, "extension providers must use openai-chat-completions"] as const),
    ...[
      { name: " " },
      { api_url: undefined },
      { api_url: "ftp://models.example/v1" },
      { api_url: "models.example" },
      { default_model: "" },
      { models: [1] },
      { models: "m" },
      { api_key_env: undefined },
      { api_key_env: [] },
      { api_key_env: "KEY" },
      { requires_api_key: "no" }
    ].map((wrong) =>
      [
        { providers: [provider, { ...provider, ...wrong }] },
        "extension providers require name, api_url (http or https), default_model, and api_key_env unless requires_api_key is false; " +
        "models and api_key_env hold strings"
      ] as const)
  ])("refuses %j with its sentence", (fields, expected) => {
    assert.strictEqual(reason(register(fields)), expected)
  })

  // E-070 E-071 E-072 E-076 E-082 E-155 E-267 X-016
  it("takes null and absent lists as none, unknown events, and capabilities in any case", () => {
    const none = { commands: [], tools: [], events: [], modes: [], providers: [] }
    assert.deepStrictEqual(register({ tools: null, events: null }), Result.succeed(none))
    assert.deepStrictEqual(register({}), Result.succeed(none))
    const full = register({
      commands: [{ name: " Note " }],
      events: ["someday"],
      tools: [{ ...tool, capabilities: ["READ", "user", "write", "shell", "network"] }]
    })
    assert.deepStrictEqual(full, Result.succeed({
      commands: [{ name: "Note", description: "" }],
      events: ["someday"],
      tools: [{ ...tool, capabilities: ["read", "user", "write", "shell", "network"] as const }],
      modes: [],
      providers: []
    }))
  })

  it("takes modes, providers, and commands that may run while the agent works; keys it does not know are left out", () => {
    const full = Result.getOrThrow(register({
      commands: [{ name: "btw", while_busy: true }, { name: "now", while_busy: "yes" }],
      modes: [{ ...mode, colour: "red" }],
      providers: [
        { ...provider, stream_usage: true },
        { ...provider, name: "local", api_url: "http://127.0.0.1:8080", models: undefined, api_key_env: undefined, requires_api_key: false }
      ]
    }))
    assert.deepStrictEqual(full.commands, [{ name: "btw", description: "", while_busy: true }, { name: "now", description: "" }])
    assert.deepStrictEqual<unknown>(full.modes, [mode])
    assert.deepStrictEqual<unknown>(full.providers, [
      { ...provider, requires_api_key: true },
      { ...provider, name: "local", api_url: "http://127.0.0.1:8080", models: [], api_key_env: [], requires_api_key: false }
    ])
    assert.deepStrictEqual(Result.getOrThrow(register({ modes: null, providers: null })).modes, [])
  })

  // E-083
  it.each([undefined, null, []])("counts capabilities %j as write, shell and network", (capabilities) => {
    const result = register({ tools: [{ ...tool, capabilities }] })
    assert.deepStrictEqual(Result.getOrThrow(result).tools[0]?.capabilities, ["write", "shell", "network"])
  })
})

describe("offerFaults", () => {
  const of = (fields: object) => offerFaults({ type: "register", ...fields })
  const schema = (more: object) => of({ tools: [{ name: "t", description: "T.", input_schema: { type: "object", ...more } }] })

  it.each<readonly [object, string]>([
    [{ properties: 5 }, "properties must be an object of schemas by name"],
    [{ properties: [] }, "properties must be an object of schemas by name"],
    [{ properties: { a: { type: "banana" } } }, "properties.a.type must be one of object, array, string, number, integer, boolean, null, or a list of these"],
    [{ properties: { a: 5 } }, "properties.a must be a schema"],
    [{ properties: { a: { pattern: "(" } } }, "properties.a.pattern must be a regular expression"],
    [{ properties: { a: { items: { enum: "x" } } } }, "properties.a.items.enum must be a list"],
    [{ properties: { a: { anyOf: [{ minLength: "1" }] } } }, "properties.a.anyOf[0].minLength must be a number from 0"],
    [{ anyOf: [] }, "anyOf must be a list of schemas with at least one in it"],
    [{ required: "a" }, "required must be a list of names"],
    [{ $ref: "#/$defs/none" }, "$ref must point at a schema, and there is no #/$defs/none"],
    [{ properties: { a: { $ref: "https://example.org/a.json" } } }, "properties.a.$ref must point at a schema, and there is no https://example.org/a.json"],
    [{ properties: { a: { $ref: 5 } } }, "properties.a.$ref must be a text"]
  ])("names tool and field of the schema %j", (more, expected) => {
    assert.deepStrictEqual(schema(more), [`tool "t": input_schema.${expected}`])
  })

  it("finds nothing in schemas of all drafts as they are written, nor in keys there are none of", () => {
    assert.deepStrictEqual(schema({
      $schema: "http://json-schema.org/draft-07/schema#",
      $defs: { "a/b": { $id: "https://example.org/b", type: ["string", "null"], pattern: "^[\\w-]+$", format: "uri", "x-mine": 5 } },
      properties: {
        type: { $ref: "#/$defs/a~1b" },
        required: { enum: [1, null] },
        self: { $ref: "#" },
        other: { $ref: "https://example.org/b" },
        named: { $anchor: "here", type: "array", items: [{}, true], additionalItems: false },
        back: { $ref: "#here" },
        old: { minimum: 0, exclusiveMinimum: true, default: { type: "banana" }, const: { properties: 5 }, examples: [{ required: "x" }] }
      },
      required: [],
      additionalProperties: false
    }), [])
  })

  it("names what a tool lacks, names that stand twice or that nobody can type, and fields that are ignored", () => {
    const input_schema = { type: "object" }
    assert.deepStrictEqual(of({
      tools: [{ name: "a", input_schema }, { description: "B.", input_schema: [] }, { name: "c", description: "C.", input_schema }, { name: "c", description: "C.", input_schema }]
    }), [
      'tool "a": description must be a text that is not empty',
      "tool 2: name must be a text that is not empty",
      "tool 2: input_schema must be an object",
      'tool "c": the name stands twice in one registration; the later one counts'
    ])
    assert.deepStrictEqual(of({ commands: [{ name: "a\nb" }, { name: "/a" }, { name: "é-1", description: 5, while_busy: "x" }, { name: "Go", description: null }, { name: "go" }] }), [
      'command "a\\nb": nobody can type this name: it is what follows the /, without spaces',
      'command "/a": nobody can type this name: it is what follows the /, without spaces',
      'command "é-1": description must be a text; it was ignored',
      'command "é-1": while_busy must be true or false; it was ignored',
      'command "go": the name stands twice in one registration; the first one counts'
    ])
    assert.strictEqual(of({ commands: Array.from({ length: 20 }, () => 5) }).at(-1), "12 more faults of its registration")
  })
})
