// Runs one benchmark and prints each figure when it is measured: JSON lines for tools, aligned columns for people.
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

const folder = path.resolve(import.meta.dirname, '../test/bench')
const benchmarks = fs.readdirSync(folder).map((file) => path.basename(file, '.ts'))
const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean' } } })
const [name] = positionals
if (positionals.length !== 1 || !benchmarks.includes(name)) {
  console.error(`usage: scripts/bench NAME [--json]; NAME is one of: ${benchmarks.join(', ')}`)
  process.exit(2)
}

const columns = [22, 12, 8, 12, 12, 4]
const row = (cells) =>
  cells
    .map((cell, i) => String(cell).padEnd(columns[i]))
    .join('  ')
    .trimEnd()
if (!values.json) console.log(row(['figure', 'value', 'unit', 'beside', 'goal', 'met']))

const { bench } = await import(path.join(folder, `${name}.ts`))
await bench(({ figure, value, unit, beside = null, atMost, atLeast }) => {
  const goal = atMost ?? atLeast ?? null
  const met = goal === null ? null : atMost === undefined ? value >= atLeast : value <= atMost
  const rounded = Number(value.toPrecision(4))
  if (values.json) return console.log(JSON.stringify({ bench: name, figure, value: rounded, unit, beside, goal, met }))
  const sign = atMost === undefined ? '>=' : '<='
  const verdict = met === null ? '' : met ? 'yes' : 'NO'
  console.log(row([figure, rounded, unit, beside ?? '', goal === null ? '' : `${sign} ${goal}`, verdict]))
})
