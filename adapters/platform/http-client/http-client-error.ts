// One error type for HTTP requests without a complete response, whether undici, Node or a limit reported the failure.
import { AddressDeniedError } from '../address-rule/checked-lookup.ts'

/**
 * `aborted`: the caller's signal. `timeout`: the limit of the response head or of the whole exchange. `idle`: no byte for
 * too long. `address`: the rule of the client refuses the address. `unreachable`: no response head. `broken_off`: a
 * response that did not end. `too_large`: its body.
 */
export type HttpFailure = 'aborted' | 'timeout' | 'idle' | 'address' | 'unreachable' | 'broken_off' | 'too_large'

export class HttpClientError extends Error {
  readonly failure: HttpFailure
  /** Of the operating system, TLS or HTTP: ECONNREFUSED, CERT_HAS_EXPIRED, INVALID_HTTP_RESPONSE. */
  readonly code: string | undefined

  constructor(
    failure: HttpFailure,
    message: string,
    options: { readonly code?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'HttpClientError'
    this.failure = failure
    this.code = options.code
  }
}

const idleCodes: readonly string[] = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']

/** The names of undici for what Node calls otherwise. */
const nodeCodes: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_HEADERS_OVERFLOW: 'HPE_HEADER_OVERFLOW',
}

/** Errors of undici that have no code. */
const codesByName: Readonly<Record<string, string>> = { HTTPParserError: 'INVALID_HTTP_RESPONSE' }

/** `otherwise`: the failure that an error of the connection means at this point of the exchange. */
export function toHttpClientError(error: unknown, otherwise: 'unreachable' | 'broken_off'): HttpClientError {
  if (error instanceof HttpClientError) return error
  const { code, message, name } = error as NodeJS.ErrnoException
  if (error instanceof AddressDeniedError)
    return new HttpClientError('address', message, { code: error.code, cause: error })
  if (code !== undefined && idleCodes.includes(code))
    return new HttpClientError('idle', message, { code, cause: error })
  const shown = code === undefined ? codesByName[name] : (nodeCodes[code] ?? code)
  // An error that stands for several addresses has a code and no message.
  const text = message || (shown ?? 'the connection failed')
  return new HttpClientError(otherwise, text, { ...(shown === undefined ? {} : { code: shown }), cause: error })
}
