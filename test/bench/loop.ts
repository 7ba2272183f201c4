// Measures the delay of the event loop under the most expensive requests of every operation, beside that of an empty loop.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Figure } from '../support/bench/figure.ts'

const max_delay_ms = 20

type DelayFigure = {
  readonly name: string
  readonly p999_ms: number
  readonly turn_ms: number
}

/** One line for each operation, and a verdict. The requests are those of test/worst-inputs.test.ts, whose client is a thread of its own. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-loop-'))
  const file = path.join(folder, 'figures.jsonl')
  try {
    const root = path.resolve(import.meta.dirname, '../..')
    const command = [
      path.join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--project',
      'thorough',
      'test/worst-inputs.test.ts',
    ]
    const env = { ...process.env, LOOP_FIGURES: file }
    const { status, stdout } = spawnSync(process.execPath, command, { cwd: root, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`the walk over the operations failed:\n${stdout.slice(-4_000)}`)
    const figures = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as DelayFigure)
    const base_ms = figures.find(({ name }) => name === 'base')?.p999_ms ?? Number.NaN
    const worst = findWorstOfEach(figures.filter(({ name }) => name !== 'base'))
    const goal = { unit: 'ms', beside: base_ms, atMost: max_delay_ms }
    for (const [address, { p999_ms }] of worst) report({ figure: address, value: p999_ms, ...goal })
    const all = [...worst.values()]
    const verdict = `all ${all.length} operations, the longest`
    report({ figure: verdict, value: Math.max(...all.map(({ p999_ms }) => p999_ms)), ...goal })
    // Other processes of the machine add to a delay, and nothing to the processor time.
    const turn_ms = Math.max(...figures.map((figure) => figure.turn_ms))
    report({ figure: 'processor time of the longest turn', value: turn_ms, unit: 'ms' })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Of the inputs of each operation the one with the longest delay; the name of a figure begins with the address. */
function findWorstOfEach(figures: readonly DelayFigure[]): Map<string, DelayFigure> {
  const worst = new Map<string, DelayFigure>()
  for (const figure of figures) {
    const [address = ''] = figure.name.split(': ')
    if (figure.p999_ms > (worst.get(address)?.p999_ms ?? -1)) worst.set(address, figure)
  }
  return worst
}
