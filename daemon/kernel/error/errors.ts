// The table of refusal codes: HTTP status, exit code, whether to retry, and title.

export type ErrorRow = { status: number; exit: 1 | 2 | 3 | 4 | 5; retryable: boolean; title: string }

export const errorTable = {
  malformed: { status: 400, exit: 2, retryable: false, title: 'The request could not be read' },
  unauthenticated: { status: 401, exit: 3, retryable: false, title: 'A valid token is required' },
  forbidden: { status: 403, exit: 3, retryable: false, title: 'The caller may not do this' },
  not_your_tenant: { status: 403, exit: 3, retryable: false, title: 'The object belongs to another tenant' },
  not_contributor: {
    status: 403,
    exit: 3,
    retryable: false,
    title: 'The caller may not contribute under this name and key',
  },
  signature_invalid: {
    status: 403,
    exit: 3,
    retryable: false,
    title: 'The message carries no valid signature of a pinned key',
  },
  label_denied: { status: 403, exit: 3, retryable: false, title: 'The label does not allow this' },
  not_found: { status: 404, exit: 1, retryable: false, title: 'There is no such object' },
  method_not_allowed: { status: 405, exit: 2, retryable: false, title: 'The resource does not support this method' },
  not_acceptable: { status: 406, exit: 2, retryable: false, title: 'No offered representation is acceptable' },
  conflict: { status: 409, exit: 3, retryable: true, title: 'The object changed meanwhile' },
  already_exists: { status: 409, exit: 3, retryable: false, title: 'The object exists already' },
  session_closed: { status: 409, exit: 3, retryable: false, title: 'The session takes no more of this' },
  wrong_state: {
    status: 409,
    exit: 3,
    retryable: false,
    title: 'The object is in a state that does not allow this',
  },
  quorum_full: { status: 409, exit: 3, retryable: false, title: 'The session has all its contributors' },
  precondition_failed: {
    status: 412,
    exit: 3,
    retryable: false,
    title: 'The version named in If-Match is not the current one',
  },
  too_large: { status: 413, exit: 2, retryable: false, title: 'The request is too large' },
  unsupported_media_type: { status: 415, exit: 2, retryable: false, title: 'The content type is not supported' },
  invalid: { status: 422, exit: 2, retryable: false, title: 'The request was understood and its values refused' },
  idempotency_mismatch: {
    status: 422,
    exit: 2,
    retryable: false,
    title: 'The idempotency key was used with another request',
  },
  over_budget: { status: 403, exit: 3, retryable: false, title: 'The peer has used up what this site grants it' },
  rate_limited: { status: 429, exit: 4, retryable: true, title: 'Too many requests' },
  internal: { status: 500, exit: 1, retryable: false, title: 'The service failed' },
  unavailable: { status: 503, exit: 4, retryable: true, title: 'A part that this needs is not available' },
  timeout: { status: 503, exit: 4, retryable: true, title: 'The operation ran out of time' },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorTable

/** A fault of one field: `path` as in `policy.m`, and a message for people. */
export type FieldError = { path: string; message: string }

/**
 * A refusal. Rules and operations return it as a value; the kernel throws it only where it cannot return one (a read
 * of a scoped store inside an operation). `detail` is shown to the caller: never put a secret, a file path or a stack
 * in it.
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
