// The dialect of a file is the one that gives its records the same fields; what is read today as commas stays so.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DetectedDialect, detectDialect } from './detect-dialect.ts'

const detect = (text: string, isWhole = true, delimiter?: string) =>
  detectDialect(Buffer.from(text), isWhole, delimiter)

/** Delimiter, quotation mark and escape; "one" for a single column. */
const shapeOf = ({ delimiter, quote, escape: mark, isSingleColumn }: DetectedDialect) =>
  isSingleColumn ? 'one' : [delimiter, quote, mark].join(' ')

describe('the dialect', () => {
  test.each<[what: string, text: string, shape: string]>([
    ['commas', 'id,name\n1,a\n', ', " "'],
    ['semicolons, with decimal commas', 'id;price;net\n1;3,50;2,00\n2;4,20;3,10\n', '; " "'],
    ['semicolons, with a comma in each text', 'id;name;x\n1;Smith, Ann;2\n2;Jones, Bo;3\n', '; " "'],
    ['semicolons, with a comma in every name and text', 'id;a,b;c\n1;x,y;z\n2;x,y;z\n', '; " "'],
    [
      'semicolons, with a comma in the last name and text',
      'id;Name;Straße, Nr\n1;Anna;Weg, 5\n2;Bo;Gasse, 7\n',
      '; " "',
    ],
    ['semicolons, with a quoted comma in a name', 'id;"Name, Vorname"\n1;"Meier, Anna"\n2;"Ott, Bo"\n', '; " "'],
    ['semicolons, with a comma without a blank', 'id;Name;Straße,Nr\n1;Anna;Weg,5\n2;Bo;Gasse,7\n', '; " "'],
    ['semicolons, with a comma in two columns', 'Name, Vorname;PLZ\nMeier, Anna;80331\nOtt, Bo;10115\n', '; " "'],
    ['tabs, with a comma in each text', 'id\tname, first\n1\tSmith, Ann\n2\tJones, Bo\n', '\t " "'],
    ['bars', 'id|name|x\n1|a|b\n', '| " "'],
    ['carets', 'id^name\n1^a\n', '^ " "'],
    ['commas, with semicolons in the texts', 'id,tags\n1,a;b;c\n2,d;e\n', ', " "'],
    ['commas, with semicolons in all texts and one name', 'id,tags;all\n1,a;b\n2,d;e\n', ', " "'],
    ['a quoted delimiter and line end', 'id;name\n1;"a;b\nc"\n2;"d ""e"""\n', '; " "'],
    ['apostrophes around texts with commas', "id,name\n1,'Smith, Ann'\n2,'Jones, Bo'\n", ", ' '"],
    ['apostrophes around everything', "'id','name'\n'1','Ann'\n'2',\n", ", ' '"],
    ['apostrophes that are part of the texts', "id,name\n1,O'Neil\n2,'t Hooft\n3,'a' b\n", ', " "'],
    ['apostrophes around texts alone stay', "id,name\n1,'Ann'\n2,Bo\n", ', " "'],
    ['marks for inches', 'id,size\n1,5" nail\n2,6" nail\n3,7 nails\n', ',  "'],
    ['one bad mark among quoted values', 'id,size\n1,"5, nail"\n2,6" nail\n3,"7, nails"\n', ', " "'],
    ['backslashes before marks', 'id,name\n1,"say \\"so\\", Bo"\n', ', " \\'],
    ['a header alone', 'id;name\n', '; " "'],
    ['carriage returns alone', 'id;name\r1;a\r2;b\r', '; " "'],
    ['a bad row among good ones', 'id,name\n1,a\n2\n3,c\n', ', " "'],
    ['a first line of fewer names than all others', 'id\n1;a\n2;b\n', '; " "'],
    ['one column', 'id\n1\n2\n', 'one'],
    ['one column of texts with commas', 'name\nSmith, Ann\nJones\n"a, b, c"\n', 'one'],
    ['nothing', '', 'one'],
  ])('%s', (_, text, shape) => {
    expect(shapeOf(detect(text))).toBe(shape)
  })

  test('of one column is a character that its texts do not have', () => {
    expect(detect('name\na,b\nc;d;e\nf\tg\th\ti\n').delimiter).toBe('|')
  })

  test('that fits as well as another is named', () => {
    expect(detect('a,b;c\n1,2;3\n4,5;6\n')).toMatchObject({
      delimiter: ',',
      rivals: [{ delimiter: ';', columns: 2 }],
    })
    expect(detect('a,b\n1,2\n').rivals).toEqual([])
  })

  test('is found in whole records alone, where the text goes on', () => {
    expect(shapeOf(detect('id;name\n1;a\n2', false))).toBe('; " "')
    expect(shapeOf(detect('id;name\n1;"a\nb', false))).toBe('; " "')
  })

  test('whose delimiter is stated keeps it', () => {
    expect(shapeOf(detect('id;name\n1;a,b\n', true, ';'))).toBe('; " "')
    expect(shapeOf(detect("id;name\n1;'a;b'\n", true, ';'))).toBe("; ' '")
    expect(detect('id;name\n', true, '|')).toMatchObject({ delimiter: '|', isSingleColumn: true })
  })
})

test('any table is found again, whatever its delimiter, marks and texts', () => {
  const dialects = fc.record({ delimiter: fc.constantFrom(',', ';', '\t', '|'), end: fc.constantFrom('\n', '\r\n') })
  const cell = fc.string({ unit: fc.constantFrom('a', 'b', ' ', ',', ';', '"', "'", '\n', '漢'), maxLength: 6 })
  const rows = fc.array(fc.tuple(cell, cell, cell), { maxLength: 6 })
  fc.assert(
    fc.property(dialects, rows, ({ delimiter, end }, table) => {
      const encode = (text: string) => `"${text.replaceAll('"', '""')}"`
      const lines = [['id', 'name', 'city'], ...table].map((row) => row.map(encode).join(delimiter))
      const found = detect(`${lines.join(end)}${end}`)
      expect(shapeOf(found)).toBe(`${delimiter} " "`)
    }),
    { numRuns: 500 },
  )
})

test('any bytes have a dialect', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, isWhole) => {
      expect(detectDialect(bytes, isWhole).delimiter).toHaveLength(1)
    }),
    { numRuns: 1_000 },
  )
})
