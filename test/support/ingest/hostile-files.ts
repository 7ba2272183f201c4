// Files that are broken, or made to harm a reader, each with the reason by which it is refused.
import { encodeParquet } from '../data/encode-blocks.ts'
import { encodeXlsx } from '../data/write-xlsx.ts'

const parquet = encodeParquet(
  ['a'],
  Array.from({ length: 100 }, (_, row) => [String(row)]),
)
const row = (cells: string) => `<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>${cells}`
const workbook = (cells: string) => encodeXlsx({ sheets: { one: row(cells) } })
/** Its end claims a description that is larger than the file. */
const lying = (() => {
  const bytes = Uint8Array.from(parquet)
  bytes.set([0xff, 0xff, 0xff, 0x7f], bytes.length - 8)
  return bytes
})()

export type HostileFile = readonly [subject: string, name: string, content: string | Uint8Array, refusal: RegExp]

export const hostileFiles: readonly HostileFile[] = [
  ['Parquet that is cut', 'cut.parquet', parquet.slice(0, -20), /cut\.parquet: /],
  ['Parquet without its beginning', 'tail.parquet', parquet.slice(20), /tail\.parquet: /],
  ['Parquet that lies about its size', 'lying.parquet', lying, /lying\.parquet: /],
  ['text as Parquet', 'text.parquet', 'a,b\n1,2\n', /text\.parquet: /],
  ['text as Avro', 'text.avro', 'a,b\n1,2\n', /text\.avro: damaged, or not an Avro file/],
  ['text as a workbook', 'text.xlsx', 'a,b\n1,2\n', /text\.xlsx: /],
  [
    'a workbook as text',
    'book.csv',
    workbook(''),
    /book\.csv cannot be read as text: it is a ZIP archive, or a workbook/,
  ],
  [
    'a database as text',
    'data.csv',
    'SQLite format 3\0and more',
    /data\.csv cannot be read as text: it is a database of SQLite/,
  ],
  ['a workbook that is cut', 'cut.xlsx', workbook('').slice(0, -30), /cut\.xlsx: /],
  ['a workbook with a document type', 'laughs.xlsx', workbook('<!DOCTYPE x [<!ENTITY a "b">]>'), /laughs\.xlsx: /],
  [
    'a document of a million levels',
    'deep.json',
    '['.repeat(1_000_000),
    /deep\.json: not a JSON document: nested deeper than 256 levels/,
  ],
  [
    'a line of a million levels',
    'deep.jsonl',
    `{"a": ${'['.repeat(1_000_000)}}\n`,
    /deep\.jsonl, line 1: the line is nested too deeply/,
  ],
  [
    'a line of 20 MB',
    'long.jsonl',
    `{"a": "${'x'.repeat(20_000_000)}"}\n`,
    /long\.jsonl, line 1: the line has more than 16777216 bytes/,
  ],
  [
    'a first line of 20 MB',
    'long.csv',
    'x'.repeat(20_000_000),
    /long\.csv, line 1: the record has more than 16777216 bytes/,
  ],
  ['a document without an end', 'open.json', '[{"a": 1}', /open\.json: not a JSON document: it ends too early/],
  [
    'entities of entities',
    'laughs.xml',
    '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><x><y k="1"/><y k="&c;"/></x>',
    /laughs\.xml: not a well-formed XML document: it has a document type with declarations/,
  ],
  ['elements of a million levels', 'deep.xml', '<a>'.repeat(1_000_000), /deep\.xml: .*elements are nested too deeply/],
  [
    'a text of 20 MB in XML',
    'long.xml',
    `<x><y k="1"/><y>${'z'.repeat(20_000_000)}</y></x>`,
    /long\.xml: a text of more than/,
  ],
  ['XML that is cut', 'cut.xml', '<x><y k="1"/><y k="2"/>', /cut\.xml: not a well-formed XML document/],
  ['nothing', 'empty.csv', '', /empty\.csv, line 1: the first line must name the columns/],
]
