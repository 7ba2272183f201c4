// The answers that the proxy gives itself: few words, the same for every request of a status, so that they tell nothing.

/** `headers` flat and in lower case, Content-Length included; `body` in ASCII. */
export type Reply = { readonly status: number; readonly headers: readonly string[]; readonly body: string }

/** The answer of a status of the table in `reasons.ts`, other than 204. To HEAD its headers alone are sent. */
export function localReply(status: number, cors_origin: string): Reply {
  throw new Error(`not yet ${status} ${cors_origin}`)
}

/** The answer to a preflight: what the interface says of OPTIONS. `headers` are the request's, raw and flat. */
export function preflightReply(headers: readonly string[], cors_origin: string, hasPost: boolean): Reply {
  throw new Error(`not yet ${headers.length} ${cors_origin} ${hasPost}`)
}
