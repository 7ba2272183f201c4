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
  readonly max_ms: number
  readonly turn_ms: number
}

/** The requests are those of test/worst-inputs.test.ts, whose client is a thread of its own. */
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
    for (const { name, p999_ms, max_ms, turn_ms } of figures) {
      report({ figure: `${name}, 999 of 1,000`, value: p999_ms, unit: 'ms', beside: base_ms, atMost: max_delay_ms })
      report({ figure: `${name}, longest`, value: max_ms, unit: 'ms' })
      report({ figure: `${name}, processor time of a turn`, value: turn_ms, unit: 'ms' })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
