// Records of XML documents as programs write them, and documents made to exhaust a reader.
import { describe, expect, test } from 'vitest'
import { DataFault, type RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { listRows, memorySource } from '../../../test/support/data/memory-source.ts'
import { findRecordPaths, readDeclaredEncoding, readXml } from './read-xml.ts'

const all: DataReadOptions = { limits: usualLimits, isSelected: () => true }

async function read(xml: string | Uint8Array, path: string, options = all) {
  return await listRows(readXml(memorySource(Buffer.from(xml)), path, '|', options))
}

/** The one record at /list/item, by name. */
async function readItem(item: string): Promise<Record<string, string | null | undefined>> {
  const { names, rows } = await read(`<list>${item}</list>`, '/list/item')
  return Object.fromEntries(names.map((name, at) => [name, rows[0]?.[at]]))
}

describe('an element is a record of', () => {
  test.each<[what: string, item: string, record: Record<string, string | null>]>([
    ['the texts of its elements', '<item><id>1</id><name> Ann </name></item>', { id: '1', name: 'Ann' }],
    ['its attributes', '<item id="1" name="Ann"/>', { id: '1', name: 'Ann' }],
    ['its own text', '<item code="DE">Germany</item>', { code: 'DE', item: 'Germany' }],
    ['elements within others', '<item><a><b>1</b><c d="2">3</c></a></item>', { 'a.b': '1', 'a.c.d': '2', 'a.c': '3' }],
    ['a list of elements of one name', '<item><a>1</a><b>x</b><a>2</a></item>', { a: '1|2', b: 'x' }],
    ['lists within others', '<item><a><b>1</b></a><a><b>2</b></a></item>', { 'a.b': '1|2' }],
    ['empty elements', '<item><a/><b></b><c> </c><d>1</d></item>', { a: null, b: null, c: null, d: '1' }],
    ['elements of which only the attributes have a value', '<item><a k="1"/></item>', { 'a.k': '1' }],
    ['CDATA and references', '<item><a><![CDATA[1 < 2]]> &amp; &#x26; &lt;b&gt;</a></item>', { a: '1 < 2 & & <b>' }],
    ['comments and instructions left out', '<item><a>1<!-- 2 -->3<?x y?></a></item>', { a: '13' }],
    [
      'names without prefixes and declarations',
      '<x:item xmlns:x="u" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="u v" x:k="1"><x:a xml:lang="de">2</x:a><x:b xsi:nil="true"/></x:item>',
      { k: '1', 'a.lang': 'de', a: '2', b: null },
    ],
    ['line ends within texts', '<item><a>1\r\n2</a></item>', { a: '1\n2' }],
    ['digits that no number keeps', '<item><a>00123456789012345678</a></item>', { a: '00123456789012345678' }],
    [
      'names of objects',
      '<item><__proto__>1</__proto__><toString>2</toString></item>',
      { ['__proto__']: '1', toString: '2' },
    ],
  ])('%s', async (_, item, record) => {
    expect(Object.entries(await readItem(item))).toEqual(Object.entries(record))
  })
})

const people = '<?xml version="1.0"?><people><meta><id>0</id></meta><person id="1"/><other/><person id="2"/></people>'

test('only the elements at the path are records, and their number is their line', async () => {
  const lines: number[] = []
  for await (const { lines: each = [] } of readXml(memorySource(Buffer.from(people)), '/people/person', '|', {
    ...all,
    hasLines: true,
  }))
    lines.push(...each)
  expect(lines).toEqual([1, 2])
  expect((await read(people, '/people/person')).rows).toEqual([['1'], ['2']])
  await expect(read(people, '/people/persons')).rejects.toThrow('the document has no element at /people/persons')
  await expect(read(people, '/person')).rejects.toThrow('no element at /person')
})

test('the outermost element may be the only record', async () => {
  expect(await read('<a x="1"><b>2</b></a>', '/a')).toEqual({ names: ['x', 'b'], rows: [['1', '2']] })
})

test('a document with a reference to an external document type is read without it', async () => {
  expect((await read('<!DOCTYPE a SYSTEM "http://example.invalid/a.dtd"><a x="1"/>', '/a')).rows).toEqual([['1']])
})

test('a record that would lose values is left out with its reason', async () => {
  const rejects: RejectedRecord[] = []
  const options = { ...all, onReject: (record: RejectedRecord) => void rejects.push(record) }
  const xml = `<l><i a="1"><a>2</a></i><i><p>text <b>bold</b></p></i><i a="3"/><i><a>${'x'.repeat(1_048_577)}</a></i><i><a.b>1</a.b><a><b>2</b></a></i><i xmlns:p="u" xmlns:q="v"><p:a>1</p:a><q:a>2</q:a></i></l>`
  expect((await read(xml, '/l/i', options)).rows).toEqual([['3']])
  expect(rejects.map(({ place, reason }) => [place.line, reason])).toEqual([
    [1, 'two values have the name "a"'],
    [2, '"p" has text between its elements'],
    [4, '"a" has more than 1048576 bytes'],
    [5, 'two values have the name "a.b"'],
    [6, 'two values have the name "a"'],
  ])
})

test('a record of megabytes is left out, and not held', async () => {
  const rejects: RejectedRecord[] = []
  const options = { ...all, onReject: (record: RejectedRecord) => void rejects.push(record) }
  const xml = `<l><i>${'<a>0123456789</a>'.repeat(2_000_000)}</i><i><a>1</a></i></l>`
  expect((await read(xml, '/l/i', options)).rows).toEqual([['1']])
  expect(rejects.map(({ reason }) => reason)).toEqual(['the record has more than 16777216 characters'])
})

describe('a fault of the document is', () => {
  test.each<[what: string, xml: string | Uint8Array, pattern: string]>([
    ['an element that does not end', '<a><b>', 'not a well-formed XML document: '],
    ['another end', '<a><b></a></b>', 'not a well-formed XML document: '],
    ['text alone', 'id,name\n1,Ann\n', 'not a well-formed XML document: '],
    ['nothing', '', 'not a well-formed XML document: '],
    ['an entity of its own', '<a>&lol;</a>', 'not a well-formed XML document: '],
    ['entities of entities', '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><a>&d;</a>', 'a document type with'],
    ['a file as an entity', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', 'a document type with'],
    ['deep elements', '<a>'.repeat(100), 'elements are nested too deeply'],
    ['a text of megabytes', `<a><b>${'x'.repeat(5_000_000)}</b></a>`, 'a text of more than'],
    ['an attribute of megabytes', `<a b="${'x'.repeat(5_000_000)}"/>`, 'a text of more than'],
    ['a comment of megabytes', `<a><!--${'x'.repeat(5_000_000)}--></a>`, 'a text of more than'],
    ['a name of megabytes', `<${'x'.repeat(5_000_000)}/>`, 'a text of more than'],
    ['bytes that are not UTF-8', Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e]), 'it is not UTF-8'],
  ])('%s', async (_, xml, pattern) => {
    await expect(read(xml, '/a')).rejects.toThrow(pattern)
    await expect(read(xml, '/a')).rejects.toBeInstanceOf(DataFault)
  })
})

describe('the elements that are records are found:', () => {
  test.each<[what: string, xml: string, paths: string[]]>([
    ['the repeated ones', '<l><i><a/><a/></i><i/></l>', ['/l/i']],
    [
      'those within others that are not repeated',
      '<rss><channel><title/><item/><item/></channel></rss>',
      ['/rss/channel/item'],
    ],
    ['several kinds', '<db><as><a/><a/></as><bs><b/><b/></bs></db>', ['/db/as/a', '/db/bs/b']],
    ['the only one', '<l><i><a>1</a></i></l>', ['/l/i']],
    ['none', '<l><a>1</a><b>2</b></l>', []],
    ['none with a value of its own', '<l><i>1</i></l>', []],
  ])('%s', async (_, xml, paths) => {
    expect(await findRecordPaths(memorySource(Buffer.from(xml)))).toEqual(paths)
  })

  test('of any number of names, in a time that their number decides', async () => {
    const names = Array.from({ length: 100_000 }, (_, at) => `<n${at}/><n${at}/>`).join('')
    expect(await findRecordPaths(memorySource(Buffer.from(`<l>${names}</l>`)))).toHaveLength(20)
  })
})

test('the declaration names the encoding', () => {
  const encodingOf = (text: string) => readDeclaredEncoding(Buffer.from(text))
  expect(encodingOf('<?xml version="1.0" encoding="ISO-8859-1"?><a/>')).toBe('ISO-8859-1')
  expect(encodingOf("<?xml version='1.0' encoding='utf-8' standalone='yes'?>")).toBe('utf-8')
  expect(encodingOf('<?xml version="1.0"?><a encoding="x"/>')).toBeUndefined()
})
