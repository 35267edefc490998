/** What can go wrong before a model is asked. What goes wrong in asking is Effect's `AiError`. */
import { Schema } from "effect"

/** No key for `provider`: not given, not in `auth.json`, or there in an entry of another type, and none of `variables` is set. */
export class MissingCredential extends Schema.TaggedError<MissingCredential>()("MissingCredential", {
  provider: Schema.String,
  variables: Schema.Array(Schema.String),
  entryType: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    if (this.entryType !== undefined) return `no API key for ${this.provider}; its entry in auth.json is of the type ${this.entryType}, and only api_key is understood`
    return `no API key for ${this.provider}${this.variables.length === 0 ? "" : `; looked for ${this.variables.join(", ")}`}`
  }
}

/** `provider` is neither built in nor in the settings; `known` are those that are, `named` says what names it. */
export class UnknownProvider extends Schema.TaggedError<UnknownProvider>()("UnknownProvider", {
  provider: Schema.String,
  known: Schema.Array(Schema.String),
  named: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `unknown provider '${this.provider}'${this.named === undefined ? "" : `, named by ${this.named}`}; known: ${this.known.join(", ")}`
  }
}

/** The settings of `provider` name an interface that is not spoken here. */
export class UnknownApi extends Schema.TaggedError<UnknownApi>()("UnknownApi", {
  provider: Schema.String,
  api: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `provider ${this.provider}: unknown api '${this.api}'; known: ${this.known.join(", ")}`
  }
}

/** The endpoint of `provider` is missing or no `http` URL; `said` is the key or variable that gives it. */
export class InvalidEndpoint extends Schema.TaggedError<InvalidEndpoint>()("InvalidEndpoint", {
  provider: Schema.String,
  endpoint: Schema.String,
  said: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return this.endpoint === "" ? `provider ${this.provider} has no endpoint` : `${this.said ?? `provider ${this.provider}`}: '${this.endpoint}' is no http URL`
  }
}

/** No model was named for `provider`, and there is no default. */
export class MissingModel extends Schema.TaggedError<MissingModel>()("MissingModel", { provider: Schema.String }) {
  override get message(): string {
    return `no model named for ${this.provider}`
  }
}

/** `auth.json` could not be read or understood. Keys in it are never quoted. */
export class AuthFileInvalid extends Schema.TaggedError<AuthFileInvalid>()("AuthFileInvalid", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message(): string {
    return `${this.file}: ${this.problem}`
  }
}

/** A script for the `scripted` model is wrong: in the file as a whole, or at `field` of step number `step` (from 1). */
export class ScriptInvalid extends Schema.TaggedError<ScriptInvalid>()("ScriptInvalid", {
  file: Schema.String,
  step: Schema.optionalKey(Schema.Int),
  field: Schema.optionalKey(Schema.String),
  problem: Schema.String
}) {
  override get message(): string {
    const place = [
      ...(this.step === undefined ? [] : [`step ${this.step}`]),
      ...(this.field === undefined || this.field === "" ? [] : [this.field])
    ]
    return [this.file, ...place, this.problem].join(": ")
  }
}

/** The catalogue at `url` could not be fetched, understood or kept; what was known before stays. */
export class CatalogUnavailable extends Schema.TaggedError<CatalogUnavailable>()("CatalogUnavailable", {
  url: Schema.String,
  problem: Schema.String
}) {
  override get message(): string {
    return `the catalogue of models at ${this.url} could not be used: ${this.problem}; what was known of models before stays`
  }
}

/** The catalogue that is kept in `file` has something in it that cannot be used, which is passed over. */
export class CatalogInvalid extends Schema.TaggedError<CatalogInvalid>()("CatalogInvalid", { file: Schema.String, problem: Schema.String }) {
  override get message(): string {
    return `${this.file}: ${this.problem}; it is passed over, \`nimlet models refresh\` fetches it anew`
  }
}
