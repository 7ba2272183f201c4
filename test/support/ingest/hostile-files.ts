// Files that are broken, or made to harm a reader, each with the reason by which it is refused.
import { encodeParquet } from '../data/encode-blocks.ts'
import { encodePdf, packContent, pageOf } from '../data/write-pdf.ts'
import { encodeTiff, imageTags } from '../data/write-tiff.ts'
import { biffRecord, encodeCompound, encodeXls, xlsCell } from '../data/write-xls.ts'
import { encodeXlsx } from '../data/write-xlsx.ts'

const parquet = encodeParquet(
  ['a'],
  Array.from({ length: 100 }, (_, row) => [String(row)]),
)
const row = (cells: string) => `<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>${cells}`
const workbook = (cells: string) => encodeXlsx({ sheets: { one: row(cells) } })
const oldBook = encodeXls({ sheets: { one: [xlsCell.text(0, 0, 'a'), xlsCell.number(1, 0, 1)] } })
/** The workbook in its directory claims 2 GiB. */
const lyingBook = Buffer.from(oldBook)
lyingBook.writeUInt32LE(0x7fff_ffff, 512 + 512 + 128 + 120)
/** Its table claims four billion shared texts. */
const countingBook = encodeXls({
  sheets: { one: [xlsCell.text(0, 0, 'a')] },
  globals: [biffRecord(0x00fc, [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])],
})
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
  ['text as an old workbook', 'text.xls', 'a,b\n1,2\n', /text\.xls: damaged, or not a workbook of Excel/],
  ['a new workbook as an old one', 'new.xls', workbook(''), /new\.xls: a ZIP archive: name a workbook/],
  ['an old workbook as a new one', 'old.xlsx', oldBook, /old\.xlsx: an \.xls workbook/],
  ['an old workbook as text', 'old.csv', oldBook, /old\.csv cannot be read as text: it is a workbook or a document/],
  ['an old workbook that is cut', 'cut.xls', oldBook.subarray(0, 3_000), /cut\.xls: damaged/],
  ['an old workbook of 2 GiB in 6 KB', 'lying.xls', lyingBook, /lying\.xls: damaged.*larger than the file/],
  ['an old workbook of endless texts', 'count.xls', countingBook, /count\.xls: damaged: a text ends too early/],
  [
    'an old document',
    'letter.xls',
    encodeCompound(Buffer.alloc(10), 'WordDocument'),
    /letter\.xls: a document of Office before 2007, and not a workbook/,
  ],
  ['text as an image', 'text.jpg', 'a,b\n1,2\n', /text\.jpg: damaged, or not an image of a known format/],
  [
    'a raster of four billion pixels in a hundred bytes',
    'vast.tif',
    encodeTiff([imageTags(0xffff_ffff, 0xffff_ffff, 8, 0xffff_ffff)]),
    /vast\.tif, record 1: damaged: it ends within its pixels/,
  ],
  [
    'directories of tags in a circle',
    'circle.tif',
    encodeTiff([imageTags(1, 1, 8, 1)], undefined, [8]),
    /circle\.tif, record 1: damaged: its directories refer to one another/,
  ],
  [
    'an image as text',
    'image.csv',
    Buffer.from('GIF89a\0\0', 'latin1'),
    /image\.csv cannot be read as text: it is an image/,
  ],
  ['text as PDF', 'text.pdf', 'a,b\n1,2\n', /text\.pdf: damaged, or not a PDF/],
  [
    'PDF that is cut',
    'cut.pdf',
    encodePdf({ pages: [pageOf([50, 700, 'a'])] }).subarray(0, 200),
    /cut\.pdf: damaged, or not a PDF/,
  ],
  [
    'PDF that unpacks to a gigabyte',
    'bomb.pdf',
    encodePdf({ pages: [packContent(Buffer.alloc(1_073_741_824, ' '), 2)] }),
    /bomb\.pdf: it unpacks to more than 268435456 bytes/,
  ],
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
