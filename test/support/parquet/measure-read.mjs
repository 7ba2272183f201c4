// Reads a column of a Parquet file in a process of its own, and prints its number of values or its fault, and its peak memory.
import { readFileSync } from 'node:fs'
import { ParquetFault } from '../../../adapters/format/parquet/check-pages.ts'
import { parquetTable } from '../../../adapters/format/parquet/parquet-table.ts'

const bytes = readFileSync(process.argv[2])
const source = { size: bytes.length, read: (from, to) => Uint8Array.from(bytes.subarray(from, to)).buffer }
let values = 0
let fault
try {
  const table = await parquetTable(source, 100_000_000)
  await table.read('v', '|', () => void values++)
} catch (error) {
  if (!(error instanceof ParquetFault)) throw error
  fault = error.message
}
console.log(JSON.stringify({ values, fault, peak_bytes: process.resourceUsage().maxRSS * 1_024 }))
