// A CSV file of any size is read within a bounded memory: the part of scripts/soak data-files that a test can wait for.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

/** Of the whole process, of which Node itself takes 80 MB. */
const max_peak_bytes = 200 * 1_000_000
/** The generated file ends with a part of this size. */
const rows_per_part = 400

test('five hundred megabytes, generated while they are read, take less than 200 MB', () => {
  const script = path.resolve(import.meta.dirname, '../../../test/support/data/measure-csv.mjs')
  const output = execFileSync(process.execPath, [script, '500000000'], { encoding: 'utf8' })
  const { rows, rejects, peak_bytes } = JSON.parse(output)
  expect(rows).toBeGreaterThan(500_000)
  expect(rows % rows_per_part).toBe(0)
  expect(rejects).toBe(rows / 4)
  expect(peak_bytes).toBeLessThan(max_peak_bytes)
})
