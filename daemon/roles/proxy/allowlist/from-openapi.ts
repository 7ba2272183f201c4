// Proposes an allowlist from an OpenAPI document, for a person to look through: nothing is allowed by itself.

/** `text`: an allowlist with comments, good to be read back; `problems`: what of the document could not be understood. */
export type Proposal = { readonly text: string; readonly rules: number; readonly problems: readonly string[] }

/** Of a parsed OpenAPI 3.x document. GET, HEAD and POST become rules; other methods are named as not allowed. */
export function proposeAllowlist(document: unknown): Proposal {
  throw new Error(`not yet ${typeof document}`)
}
