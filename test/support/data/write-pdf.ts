// Writes PDF documents in memory, sound ones and others: pages of content, and objects of the catalog.
import { deflateSync } from 'node:zlib'

export type PdfSample = {
  /** Content of each page: as it is, or packed. */
  readonly pages: readonly (string | Uint8Array)[]
  /** Entries of the catalog, such as scripts and attachments. */
  readonly catalog?: string
  /** Number of pages that the document claims. */
  readonly count?: number
  /** Entries behind the last table, such as encryption. */
  readonly trailer?: string
  /** Objects behind those of the pages, from number `4 + 2 · pages` on. */
  readonly more?: readonly string[]
}

/** Texts of 12 points at their places. */
export function pageOf(...texts: readonly (readonly [x: number, y: number, text: string])[]): string {
  return `BT /F1 12 Tf ${texts.map(([x, y, text]) => `1 0 0 1 ${x} ${y} Tm (${text}) Tj`).join(' ')} ET`
}

/** Packs the content so often. */
export function packContent(content: Uint8Array, times: number): Uint8Array {
  let packed = content
  for (let time = 0; time < times; time++) packed = deflateSync(packed, { level: 9 })
  const filters = Array(times).fill('/FlateDecode').join(' ')
  return Buffer.concat([
    Buffer.from(`<< /Length ${packed.length} /Filter [${filters}] >>\nstream\n`),
    packed,
    Buffer.from('\nendstream'),
  ])
}

export function encodePdf({ pages, catalog = '', count = pages.length, trailer = '', more = [] }: PdfSample): Buffer {
  const first = 4
  const kids = pages.map((_, at) => `${first + at * 2} 0 R`).join(' ')
  const objects: (string | Uint8Array)[] = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...pages.flatMap((content, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${first + at * 2 + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      typeof content === 'string' ? `<< /Length ${content.length} >>\nstream\n${content}\nendstream` : content,
    ]),
    ...more,
  ]
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  let length = 9
  const places = objects.map((object, at) => {
    const part = Buffer.concat([
      Buffer.from(`${at + 1} 0 obj\n`),
      Buffer.from(object as Uint8Array),
      Buffer.from('\nendobj\n'),
    ])
    parts.push(part)
    length += part.length
    return `${String(length - part.length).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`
  const end = `trailer << /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF\n`
  return Buffer.concat([...parts, Buffer.from(table + end)])
}
