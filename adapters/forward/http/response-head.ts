// Parses a response head and the length of its body: strictly, since bytes that two parsers read differently are an attack.

export type ResponseHead = {
  readonly status: number
  readonly rawHeaders: string[]
  /** The value of Content-Length, also where no body follows. */
  readonly length: number | undefined
  /** Bytes of body; `chunked`; or `close`: until the connection ends. */
  readonly framing: number | 'chunked' | 'close'
  /** The connection may serve another request. */
  readonly isReusable: boolean
  /** How long the upstream announces to keep the connection. */
  readonly keep_alive_ms: number | undefined
}

/**
 * RFC 9112, sections 4 and 5, without the leniency that it permits a recipient: no bare CR or LF, folded lines, blanks
 * before the colon or control bytes. Each
 * repetition ends at a byte that it excludes, so the time is linear.
 */
const headPattern =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/

/** A block of fields alone, with the empty line that ends it: trailers. */
const fieldsPattern = /^(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/

export const areValidFields = (text: string): boolean => fieldsPattern.test(text)

/**
 * @param text the head with its empty line, one character a byte.
 * @returns the head, or the reason why the text is not one.
 */
export function parseResponseHead(text: string, isHead: boolean): ResponseHead | string {
  if (!headPattern.test(text)) return 'the head is malformed'
  const status = Number(text.slice(9, 12))
  const isOld = text[7] === '0'
  const rawHeaders: string[] = []
  let length: string | undefined
  let coding: string | undefined
  let connection = ''
  let keepAlive = ''
  let at = text.indexOf('\r\n') + 2
  for (const end = text.length - 2; at < end; ) {
    const colon = text.indexOf(':', at)
    const line = text.indexOf('\r\n', colon)
    const name = text.slice(at, colon)
    const value = trimBlanks(text, colon + 1, line)
    rawHeaders.push(name, value)
    at = line + 2
    // Only names as long as a framing field are compared.
    if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (length !== undefined) return 'Content-Length comes twice'
      length = value
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (coding !== undefined) return 'Transfer-Encoding comes twice'
      coding = value
    } else if (name.length === 10) {
      const lower = name.toLowerCase()
      if (lower === 'connection') connection += `${value},`
      else if (lower === 'keep-alive') keepAlive = value
    }
  }
  const framing = determineFraming(status, isHead, isOld, length, coding)
  if (typeof framing === 'object') return framing.why
  const isKept = !isOld && framing !== 'close' && (connection === '' || !/(?:^|[\t ,])close[\t ]*,/i.test(connection))
  return {
    status,
    rawHeaders,
    length: length === undefined ? undefined : Number(length),
    framing,
    isReusable: isKept,
    keep_alive_ms: parseKeepAlive(keepAlive),
  }
}

function trimBlanks(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const isBlank = (code: number) => code === 0x20 || code === 0x09

/** RFC 9112, section 6.3; its errors are errors here, and so is every coding but `chunked`. */
function determineFraming(
  status: number,
  isHead: boolean,
  isOld: boolean,
  length: string | undefined,
  coding: string | undefined,
): number | 'chunked' | 'close' | { why: string } {
  if (length !== undefined && coding !== undefined)
    return { why: 'both Content-Length and Transfer-Encoding are given' }
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return { why: 'Content-Length is not a number' }
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked'))
    return { why: 'Transfer-Encoding is not chunked' }
  if (isHead || status < 200 || status === 204 || status === 304) return 0
  if (coding !== undefined) return 'chunked'
  return length === undefined ? 'close' : Number(length)
}

function parseKeepAlive(keepAlive: string): number | undefined {
  const seconds = keepAlive === '' ? undefined : /(?:^|[\t ,])timeout=(\d{1,6})(?:$|[\t ,])/i.exec(keepAlive)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
