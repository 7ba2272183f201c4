// Reads a CSV file that is generated while it is read, in a process of its own, and prints its rows, rejects and peak memory.
import { readCsv } from '../../../adapters/format/csv/read-csv.ts'
import { usualCsv } from '../../../daemon/kernel/data/csv-dialect.ts'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'

const size = Number(process.argv[2])
const header = Buffer.from('id,given_name,surname,city,remarks,amount\n')
/** A part of whole lines: plain, quoted with escapes, in several scripts, with short and long fields, and one of too few fields. */
const lines = [
  '1048576,Ann,Smith,Oslo,,12.50',
  '1048577,"Bo ""B""","O\'Neil, jr.",Ankara,"two\nlines",-3',
  '1048578,漢字,Ünal,Łódź,x,',
  '1048579,1,2',
  `1048580,a,b,c,"${'long '.repeat(400)}",0`,
]
const part = Buffer.from(`${Array.from({ length: 100 }, () => lines.join('\n')).join('\n')}\n`)

let offset = -header.length
const source = {
  read(into) {
    if (offset < 0) {
      const rest = header.subarray(header.length + offset)
      const count = rest.copy(into)
      offset += count
      return count
    }
    if (offset >= size) return 0
    const count = part.copy(into, 0, offset % part.length)
    offset += count
    return count
  },
}

let [rows, rejects, bytes] = [0, 0, 0]
const options = { limits: { ...usualLimits, rows: 1e9 }, isSelected: () => true, onReject: () => void rejects++ }
for await (const block of readCsv(source, usualCsv, options)) {
  rows += block.rows
  for (const { starts, ends } of block.columns)
    for (let row = 0; row < block.rows; row++) bytes += ends[row] - starts[row]
}
console.log(JSON.stringify({ rows, rejects, bytes, peak_bytes: process.resourceUsage().maxRSS * 1_024 }))
