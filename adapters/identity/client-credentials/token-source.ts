// The token of a service by the client-credentials grant (RFC 6749, section 4.4): cached, renewed early, one request at a time.
import * as z from 'zod'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'

/** Credentials of the client. The secret is sent in one request header and nowhere else. */
export type TokenClient = { readonly client_id: string; readonly client_secret: string }

/**
 * Posts a form to the token endpoint and reads the whole response. Rejects without a complete response in time; the error
 * contains nothing of the request.
 */
export type FormPoster = (sent: {
  readonly authorization: string
  readonly form: string
}) => Promise<{ readonly status: number; readonly text: string }>

export type TokenSourceOptions = {
  readonly client: TokenClient
  readonly post: FormPoster
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
  /** Called after each failure, with fields for a log: without a secret, and without a token. */
  readonly onFault: (outcome: 'refused' | 'unreachable', fields: Readonly<Record<string, unknown>>) => void
  /** Called after each attempt, with its duration. */
  readonly onOutcome: (outcome: 'minted' | 'refused' | 'unreachable', took_ms: number) => void
}

/** Assumed lifetime of a token without `expires_in`. */
const default_lifetime_s = 60
/** A token is not used when less of its lifetime is left: it must outlive the request. */
const expiry_margin_ms = 10_000
/** Pause after a failure, so that a failing endpoint does not get a request for each public request. */
const retry_pause_ms = 1_000
/** As much of a response as an operator needs to find the cause. */
const max_logged_length = 512

/** The characters of a bearer token (RFC 6750, section 2.1): others must not get into a header. */
const tokenResponse = z.looseObject({
  access_token: z.string().regex(/^[\w.~+/-]{1,16384}=*$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().min(0).max(1_000_000_000).optional(),
})

type CachedToken = { readonly token: string; readonly renew_at: number; readonly end_at: number }

export class TokenSource {
  readonly #options: TokenSourceOptions
  #cached: CachedToken | undefined
  #fetching: Promise<string | undefined> | undefined
  #paused_until = Number.NEGATIVE_INFINITY

  constructor(options: TokenSourceOptions) {
    this.#options = options
  }

  /**
   * The token when one is cached; otherwise a promise of it. Undefined when none can be obtained. A token that expires soon
   * is renewed while requests still use it.
   */
  token(): string | undefined | Promise<string | undefined> {
    const now = this.#options.monotonic()
    const held = this.#cached
    if (held !== undefined && now < held.end_at) {
      if (now >= held.renew_at && now >= this.#paused_until) void this.#fetch()
      return held.token
    }
    this.#cached = undefined
    if (this.#fetching) return this.#fetching
    return now < this.#paused_until ? undefined : this.#fetch()
  }

  #fetch(): Promise<string | undefined> {
    this.#fetching ??= this.#mint().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #mint(): Promise<string | undefined> {
    const { client, post, monotonic, onOutcome } = this.#options
    const began = monotonic()
    try {
      const { status, text } = await post({
        authorization: basicAuthorization(client),
        form: 'grant_type=client_credentials',
      })
      const found = status === 200 ? parseJsonAs(tokenResponse, text) : undefined
      if (found === undefined) return this.#failed('refused', began, { status, response: this.#redact(text) })
      const life_ms = (found.expires_in ?? default_lifetime_s) * 1_000
      // Counted from the request: the token may have been issued then.
      const end_at = began + life_ms - Math.min(expiry_margin_ms, life_ms / 2)
      this.#cached = { token: found.access_token, renew_at: began + life_ms / 2, end_at }
      onOutcome('minted', monotonic() - began)
      return found.access_token
    } catch (error) {
      return this.#failed('unreachable', began, { error: (error as Error).message })
    }
  }

  #failed(outcome: 'refused' | 'unreachable', began: number, fields: Readonly<Record<string, unknown>>): undefined {
    const { onFault, onOutcome, monotonic } = this.#options
    const now = monotonic()
    this.#paused_until = now + retry_pause_ms
    onFault(outcome, fields)
    onOutcome(outcome, now - began)
  }

  /** Removes secrets: an endpoint may repeat its request, or send a token that cannot be used. */
  #redact(text: string): string {
    const { client } = this.#options
    const secrets = [
      basicAuthorization(client).slice('Basic '.length),
      client.client_secret,
      encodeFormValue(client.client_secret),
    ]
    const plain = secrets.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text)
    return plain.replaceAll(/("[a-z_]*token"\s*:\s*)"[^"]*"?/gi, '$1"[redacted]"').slice(0, max_logged_length)
  }
}

/** RFC 6749, section 2.3.1: both halves are form-encoded, so that neither contains a colon. */
function basicAuthorization({ client_id, client_secret }: TokenClient): string {
  return `Basic ${Buffer.from(`${encodeFormValue(client_id)}:${encodeFormValue(client_secret)}`).toString('base64')}`
}

function encodeFormValue(half: string): string {
  return new URLSearchParams({ half }).toString().slice('half='.length)
}
