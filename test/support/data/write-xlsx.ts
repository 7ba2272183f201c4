// Writes workbooks of Excel in memory: from tables, and from the XML of their sheets.
import { BlockReader, type DataWriterFactory } from '../../../daemon/kernel/data/data-writer.ts'
import { writeZip, type ZipPart } from './write-zip.ts'

export type WorkbookSample = {
  /** XML within `sheetData` by the name of the sheet. */
  readonly sheets: Readonly<Record<string, string>>
  readonly hidden?: readonly string[]
  /** XML of the items. */
  readonly shared?: readonly string[]
  /** Codes of number formats: style 1 is the first one. */
  readonly formats?: readonly (number | string)[]
  readonly has1904Dates?: boolean
  /** Whether sheets are stored as they are, and not packed. */
  readonly isStored?: boolean
  readonly more?: readonly ZipPart[]
}

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const relationList = (items: readonly string[]) =>
  `${declaration}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${items.join('')}</Relationships>`
const relation = (id: string, kind: string, target: string) =>
  `<Relationship Id="${id}" Type="${relations}/${kind}" Target="${target}"/>`

export function encodeXlsx(sample: WorkbookSample): Uint8Array {
  const { sheets, hidden = [], shared = [], formats = [], has1904Dates = false, isStored = false, more = [] } = sample
  const names = Object.keys(sheets)
  const sheetList = names.map((name, at) => {
    const state = hidden.includes(name) ? ' state="hidden"' : ''
    return `<sheet name="${escapeXml(name)}" sheetId="${at + 1}"${state} r:id="rId${at + 1}"/>`
  })
  const codes = formats.map((format, at) =>
    typeof format === 'string' ? `<numFmt numFmtId="${164 + at}" formatCode="${escapeXml(format)}"/>` : '',
  )
  const styles = [
    '<xf numFmtId="0"/>',
    ...formats.map((f, at) => `<xf numFmtId="${typeof f === 'number' ? f : 164 + at}"/>`),
  ]
  return writeZip([
    { name: '_rels/.rels', content: relationList([relation('rId1', 'officeDocument', 'xl/workbook.xml')]) },
    {
      name: 'xl/workbook.xml',
      content: `${declaration}<workbook ${main} xmlns:r="${relations}"><workbookPr date1904="${has1904Dates ? 1 : 0}"/><sheets>${sheetList.join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relationList([
        ...names.map((_, at) => relation(`rId${at + 1}`, 'worksheet', `worksheets/sheet${at + 1}.xml`)),
        relation('rIdS', 'styles', 'styles.xml'),
        relation('rIdT', 'sharedStrings', '/xl/sharedStrings.xml'),
      ]),
    },
    ...names.map((name, at) => ({
      name: `xl/worksheets/sheet${at + 1}.xml`,
      content: `${declaration}<worksheet ${main}><sheetData>${sheets[name]}</sheetData></worksheet>`,
      isStored,
    })),
    {
      name: 'xl/styles.xml',
      content: `${declaration}<styleSheet ${main}><numFmts>${codes.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${styles.join('')}</cellXfs></styleSheet>`,
    },
    {
      name: 'xl/sharedStrings.xml',
      content: `${declaration}<sst ${main}>${shared.map((item) => `<si>${item}</si>`).join('')}</sst>`,
    },
    ...more,
  ])
}

/** Texts in cells of their own; undefined for an empty cell. */
export function sheetOf(rows: readonly (readonly (string | null | undefined)[])[]): string {
  return rows.map((row, at) => `<row r="${at + 1}">${row.map((cell) => textCell(cell)).join('')}</row>`).join('')
}

function textCell(text: string | null | undefined): string {
  return text === null || text === undefined
    ? '<c/>'
    : `<c t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`
}

/** XML 1.0 has no control characters but three; Excel writes those as `_x0001_`, and a text that looks so with `_x005F_`. */
function escapeXml(text: string): string {
  const escapeCode = (character: string) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`
  return text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[\p{Cc}\ufffe\uffff]/gu, escapeCode)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Writes tables as the requirements of data formats give them. */
export const writeXlsx: DataWriterFactory = (schema, onBytes) => {
  const blocks = new BlockReader(schema)
  const rows: (string | null)[][] = [schema.map(({ name }) => name)]
  return {
    write(block) {
      const columns = blocks.columns(block)
      for (let row = 0; row < block.rows; row++) {
        rows.push(
          columns.map(([wanted, column]) => {
            blocks.value(wanted, column, row)
            return blocks.text(column, row) ?? null
          }),
        )
      }
    },
    end: () => onBytes(encodeXlsx({ sheets: { Sheet1: sheetOf(rows) } })),
  }
}
