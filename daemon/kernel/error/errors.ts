// The table of refusal codes: HTTP status, exit code, whether to retry, and title.

export type ErrorRow = {
  readonly status: number
  readonly exit: 1 | 2 | 3 | 4 | 5
  readonly retryable: boolean
  readonly title: string
}

/** HTTP status, exit code of the command line, and title of each error. */
export const errorTable = {
  malformed: final(400, 2, 'The request could not be read'),
  unauthenticated: final(401, 3, 'A valid token is required'),
  forbidden: final(403, 3, 'The caller may not do this'),
  not_your_tenant: final(403, 3, 'The object belongs to another tenant'),
  not_contributor: final(403, 3, 'The caller may not contribute under this name and key'),
  signature_invalid: final(403, 3, 'The message carries no valid signature of a pinned key'),
  label_denied: final(403, 3, 'The label does not allow this'),
  not_found: final(404, 1, 'There is no such object'),
  method_not_allowed: final(405, 2, 'The resource does not support this method'),
  not_acceptable: final(406, 2, 'No offered representation is acceptable'),
  conflict: retryable(409, 3, 'The object changed meanwhile'),
  already_exists: final(409, 3, 'The object exists already'),
  session_closed: final(409, 3, 'The session takes no more of this'),
  wrong_state: final(409, 3, 'The object is in a state that does not allow this'),
  quorum_full: final(409, 3, 'The session has all its contributors'),
  precondition_failed: final(412, 3, 'The version named in If-Match is not the current one'),
  too_large: final(413, 2, 'The request is too large'),
  unsupported_media_type: final(415, 2, 'The content type is not supported'),
  invalid: final(422, 2, 'The request was understood and its values refused'),
  needs_airflow: final(422, 2, 'Only Airflow can run this'),
  idempotency_mismatch: final(422, 2, 'The idempotency key was used with another request'),
  result_invalid: final(422, 5, 'The result of the peer fails the checks of this site'),
  over_budget: final(403, 3, 'The peer has used up what this site grants it'),
  rate_limited: retryable(429, 4, 'Too many requests'),
  internal: final(500, 1, 'The service failed'),
  unavailable: retryable(503, 4, 'A part that this needs is not available'),
  no_backend: retryable(503, 4, 'No process of the service that owns this is available'),
  timeout: retryable(503, 4, 'The operation ran out of time'),
} satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorTable

function final(status: number, exit: ErrorRow['exit'], title: string): ErrorRow {
  return { status, exit, retryable: false, title }
}

function retryable(status: number, exit: ErrorRow['exit'], title: string): ErrorRow {
  return { status, exit, retryable: true, title }
}

/** A fault of one field: `path` as in `policy.m`, and a message for people. */
export type FieldError = { path: string; message: string }

/**
 * A refusal. Rules and operations return it as a value; the kernel throws it only where a value cannot be returned
 * (a scoped store read inside an operation). `detail` is shown to the caller: never put a secret, a file path or a stack in it.
 */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[]
  readonly retry_after_s: number | undefined

  constructor(code: ErrorCode, detail: string, errors: readonly FieldError[] = [], retry_after_s?: number) {
    super(detail)
    this.name = 'Refusal'
    this.code = code
    this.errors = errors
    this.retry_after_s = retry_after_s
  }

  get row(): ErrorRow {
    return errorTable[this.code]
  }
}

/** Creates a refusal to return; see `Refusal`. */
export function refuse(code: ErrorCode, detail: string, errors: readonly FieldError[] = []): Refusal {
  return new Refusal(code, detail, errors)
}

export function isRefusal(value: unknown): value is Refusal {
  return value instanceof Refusal
}
