// The writer of CSV results escapes formulas and quotes.
import { expect, test } from 'vitest'
import { CsvWriter } from './csv-writer.ts'

test('the writer escapes every text cell', () => {
  let written = ''
  const sheet = new CsvWriter((bytes) => {
    written += Buffer.from(bytes).toString()
  })
  sheet.writeTexts(['=1', '-5', 'a', '=A1,"x"'])
  sheet.writeFraction(-0.5)
  sheet.endLine()
  sheet.flush()
  expect(written).toBe(`'=1,-5,a,"'=A1,""x"""\n-0.5000\n`)
})
