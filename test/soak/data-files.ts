// Reads ten gigabytes of CSV, generated while they are read, and checks the memory of the reader.
import { execFileSync } from 'node:child_process'
import path from 'node:path'

const size = 10_000_000_000
const max_peak_bytes = 200 * 1_000_000

export const usual_seeds = 1

export async function soak(): Promise<Readonly<Record<string, number>>> {
  const script = path.resolve(import.meta.dirname, '../support/data/measure-csv.mjs')
  const output = execFileSync(process.execPath, [script, String(size)], { encoding: 'utf8' })
  const { rows, rejects, peak_bytes } = JSON.parse(output) as { rows: number; rejects: number; peak_bytes: number }
  if (rejects !== rows / 4) throw new Error(`${rejects} records of ${rows} were left out`)
  if (peak_bytes > max_peak_bytes) throw new Error(`the reader took ${peak_bytes} bytes`)
  return { rows, rejects, peak_mb: Math.round(peak_bytes / 1_000_000) }
}
