// Reads DER (X.690), strictly: one spelling of each length, nothing behind the end, nothing copied. asn1js, on which
// @peculiar/x509 parses, reads BER: it accepts lengths without end, padded lengths and bytes behind the end, and
// @peculiar/x509 writes names again instead of keeping their bytes.

export type DerElement = {
  readonly tag: number
  readonly content: Buffer
  /** Tag and length with it: what signatures are made over. */
  readonly whole: Buffer
}

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bit_string: 0x03,
  octet_string: 0x04,
  oid: 0x06,
  utc_time: 0x17,
  generalized_time: 0x18,
  sequence: 0x30,
} as const

/** The one element that these bytes are. Throws an Error for anything else. */
export function parseDer(bytes: Buffer): DerElement {
  const element = readElement(bytes, 0)
  if (element.whole.length !== bytes.length) throw new Error('bytes behind the end of the DER')
  return element
}

/** Yields the elements inside an element, one by one: lists may be long. */
export function* iterateElements({ content }: DerElement): Generator<DerElement> {
  for (let at = 0; at < content.length; ) {
    const element = readElement(content, at)
    at += element.whole.length
    yield element
  }
}

function readElement(bytes: Buffer, at: number): DerElement {
  const tag = readByte(bytes, at)
  if ((tag & 0x1f) === 0x1f) throw new Error('a DER tag of many bytes')
  const first = readByte(bytes, at + 1)
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80 || lengthBytes > 4) throw new Error('a DER length without end')
  let length = first
  if (lengthBytes > 0) {
    length = 0
    for (let n = 0; n < lengthBytes; n += 1) length = length * 256 + readByte(bytes, at + 2 + n)
    if (length < 0x80 || length < 256 ** (lengthBytes - 1)) throw new Error('a DER length that is not the shortest')
  }
  const start = at + 2 + lengthBytes
  if (start + length > bytes.length) throw new Error('DER that was cut off')
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) }
}

function readByte(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new Error('DER that was cut off')
  return byte
}

/** The element, if it has this tag. Throws otherwise. */
export function expectTag(element: DerElement | undefined, tag: number): DerElement {
  if (element?.tag !== tag) throw new Error('DER of another shape')
  return element
}

/** Dotted decimal. */
export function decodeOid(element: DerElement | undefined): string {
  const numbers: number[] = []
  let value = 0
  for (const byte of expectTag(element, tags.oid).content) {
    value = value * 128 + (byte & 0x7f)
    if (byte & 0x80) continue
    numbers.push(value)
    value = 0
  }
  const [first = 0, ...rest] = numbers
  const top = Math.min(2, Math.floor(first / 40))
  return [top, first - 40 * top, ...rest].join('.')
}

/** Epoch milliseconds of a UTCTime or GeneralizedTime as RFC 5280 section 4.1.2.5 wants them. */
export function decodeTime(element: DerElement | undefined): number {
  const { tag, content } = element ?? { tag: 0, content: Buffer.alloc(0) }
  const text = content.toString('latin1')
  const [, yy = '', rest = ''] = /^(\d{2}|\d{4})(\d{10})Z$/.exec(text) ?? []
  const isShort = tag === tags.utc_time
  if (yy.length !== (isShort ? 2 : 4) || (!isShort && tag !== tags.generalized_time)) throw new Error('a time in DER')
  const year = isShort ? `${Number(yy) >= 50 ? 19 : 20}${yy}` : yy
  const [month, day, hour, minute, second] = rest.match(/../g) ?? []
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(time)) throw new Error('a time in DER')
  return time
}

export type X509Extension = { readonly oid: string; readonly isCritical: boolean; readonly value: Buffer }

/** The extensions of a certificate, a list or an entry of one: a SEQUENCE of them. */
export function parseExtensions(list: DerElement): X509Extension[] {
  return [...iterateElements(expectTag(list, tags.sequence))].map((each) => {
    const [oid, ...rest] = iterateElements(expectTag(each, tags.sequence))
    const [flag] = rest
    const value = expectTag(rest.at(-1), tags.octet_string).content
    return { oid: decodeOid(oid), isCritical: flag?.tag === tags.boolean && flag.content[0] !== 0, value }
  })
}
