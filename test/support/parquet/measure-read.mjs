// Reads a column of a Parquet file in a process of its own, and prints its number of values or its fault, and its peak memory.
import { readFileSync } from 'node:fs'
import { readParquet } from '../../../adapters/format/parquet/read-parquet.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'

const bytes = readFileSync(process.argv[2])
const source = { size: bytes.length, read: (from, to) => Uint8Array.from(bytes.subarray(from, to)).buffer }
let values = 0
let fault
try {
  const options = { limits: { ...usualLimits, rows: 100_000_000 }, isSelected: (name) => name === 'v' }
  for await (const { rows } of readParquet(source, '|', options)) values += rows
} catch (error) {
  if (!(error instanceof DataFault)) throw error
  fault = error.message
}
console.log(JSON.stringify({ values, fault, peak_bytes: process.resourceUsage().maxRSS * 1_024 }))
