// Headers of a request: those that go on are chosen from a list, and everything else stays here, whatever it is called.
import type { Source } from './source.ts'

/** What one look through the headers of a request finds. All lists are flat: name, value, name, value. */
export type Headers = {
  /** For the upstream: names in lower case, once each. Accept-Encoding is apart. */
  readonly kept: readonly string[]
  /** '' for none. It goes on only where answers are not cached: see `judge`. */
  readonly accept_encoding: string
  /** Every X-Forwarded-For in order, joined by commas. */
  readonly forwarded: string
  /** Whether a body is announced: Transfer-Encoding, or a Content-Length other than 0. */
  readonly hasBody: boolean
  readonly fault: 'duplicate_header' | 'header_character' | undefined
}

// What becomes of a header that has a meaning here; any other is left behind.
const single = 1
const list = 2
const encoding = 3
const source = 4
const length = 5
const transfer = 6
const trace = 7
const once = 8

/**
 * What an anonymous caller may say to a backend: how the answer shall look, which part of it, whether it is still fresh, and
 * what the body is. No identity, no cookie, no address, no method or path override, nothing of a hop.
 */
const meanings: Readonly<Record<string, number>> = {
  accept: list,
  'accept-language': list,
  'accept-encoding': encoding,
  'content-type': single,
  'content-language': single,
  'content-encoding': single,
  'if-none-match': list,
  'if-match': list,
  'if-modified-since': single,
  'if-unmodified-since': single,
  'if-range': single,
  range: single,
  traceparent: trace,
  'x-forwarded-for': source,
  'content-length': length,
  'transfer-encoding': transfer,
  host: once,
}

/** By the ways that names are written in most often, so that few need to be put in lower case. */
const known = new Map<string, { readonly name: string; readonly meaning: number }>()
for (const [name, meaning] of Object.entries(meanings)) {
  for (const written of [name, name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())]) {
    known.set(written, { name, meaning })
  }
}

const traceparent = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** One pass over the raw headers as the parser gives them: name, value, name, value. */
export function readHeaders(raw: readonly string[]): Headers {
  const kept: string[] = []
  const seen = 0
  let forwarded = ''
  const accept_encoding = ''
  const hasBody = false
  let fault: Headers['fault']
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const written = raw[at] as string
    const found = known.get(written) ?? (written.length <= 19 ? known.get(written.toLowerCase()) : undefined)
    if (!found) continue
    const value = raw[at + 1] as string
    // todo bits
    switch (found.meaning) {
      case source:
        forwarded = forwarded === '' ? value : `${forwarded},${value}`
        break
      default:
        void seen
        void kept
        void fault
        void hasBody
        void accept_encoding
        void traceparent
    }
  }
  return { kept, accept_encoding, forwarded, hasBody, fault }
}

/**
 * The head of the request to the upstream, flat: its Host, the service token as bearer, the source as the only
 * X-Forwarded-For, then what `judge` kept. Content-Length is for who writes the body.
 */
export function upstreamHeaders(kept: readonly string[], host: string, from: Source, token: string): string[] {
  return ['host', host, 'authorization', `Bearer ${token}`, 'x-forwarded-for', from.address, ...kept]
}
