// Parses `Accept`: the media types that the client prefers, best first (RFC 9110, section 12.5.1).

const acceptsAnything: readonly string[] = []

/** Clients send the same few headers over and over; the bound keeps an attacker from filling the memory. */
const parsedHeaders = new Map<string, readonly string[]>()
const max_parsed_headers = 64

/** Media types in lower case without parameters, by falling q; q=0 is left out. Empty: anything. */
export function parseAccept(header: string | undefined): readonly string[] {
  if (header === undefined || header === '') return acceptsAnything
  const before = parsedHeaders.get(header)
  if (before) return before
  const accepts = parseMediaRanges(header)
  if (parsedHeaders.size >= max_parsed_headers) parsedHeaders.clear()
  parsedHeaders.set(header, accepts)
  return accepts
}

function parseMediaRanges(header: string): readonly string[] {
  const ranges = header.split(',').flatMap((part) => {
    const [type, ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    return type ? [{ type, q: parseQuality(parameters) }] : []
  })
  return ranges
    .filter(({ q }) => q > 0)
    .sort((a, b) => b.q - a.q)
    .map(({ type }) => type)
}

function parseQuality(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  if (given === undefined) return 1
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given) : 0
}
