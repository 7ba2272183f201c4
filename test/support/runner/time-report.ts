// Reports the time of a test run: the ten slowest files and each folder's share, beside its budget when every tier has run.
import fs from 'node:fs'
import path from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { repositoryRoot } from '../repository/source-tree.ts'

/** Percent of a whole run that the files of a folder may take; a folder without an entry counts under `other`. */
export type TimeBudget = Readonly<Record<string, number>>

export type FileTime = { readonly file: string; readonly duration_ms: number }

/** Shares are meaningful in a run over many files alone. */
const fewest_files = 50

/**
 * Prints the times of a run. `TEST_TIMES_FILE` takes them as JSON instead, for `scripts/test --all`, which adds up the runs of all
 * tiers.
 */
export class TimeReport implements Reporter {
  readonly #budget: TimeBudget

  constructor(budget: TimeBudget) {
    this.#budget = budget
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const times = modules.map(measureModule)
    const file = process.env.TEST_TIMES_FILE
    if (file) fs.writeFileSync(file, JSON.stringify(times))
    else if (times.length >= fewest_files) console.log(`\n${formatTimeReport(times, this.#budget, false).join('\n')}\n`)
  }
}

function measureModule(module: TestModule): FileTime {
  const { duration, collectDuration, prepareDuration, setupDuration, environmentSetupDuration } = module.diagnostic()
  return {
    file: path.relative(repositoryRoot, module.moduleId),
    duration_ms: duration + collectDuration + prepareDuration + setupDuration + environmentSetupDuration,
  }
}

/**
 * The lines of the report; times are sums over all workers. The budget applies to a whole run, of every tier. A share over its budget is marked and fails nothing: the other work of a
 * machine must not decide over a change.
 */
export function formatTimeReport(times: readonly FileTime[], budget: TimeBudget, isWholeRun: boolean): string[] {
  const total = times.reduce((sum, { duration_ms }) => sum + duration_ms, 0)
  const slowest = times.toSorted((a, b) => b.duration_ms - a.duration_ms).slice(0, 10)
  const shares = new Map<string, number>()
  for (const { file, duration_ms } of times) {
    const folder = Object.keys(budget).find((name) => file.startsWith(`${name}/`)) ?? 'other'
    shares.set(folder, (shares.get(folder) ?? 0) + duration_ms)
  }
  const seconds = (duration_ms: number) => `${(duration_ms / 1_000).toFixed(1).padStart(7)} s`
  const folders = [...shares].toSorted(([, a], [, b]) => b - a)
  return [
    `Test time over all workers: ${seconds(total).trim()}. Slowest files:`,
    ...slowest.map(({ file, duration_ms }) => `${seconds(duration_ms)}  ${file}`),
    'Share of each folder:',
    ...folders.map(([folder, duration_ms]) => {
      const percent = total === 0 ? 0 : (100 * duration_ms) / total
      const share = `${seconds(duration_ms)}  ${percent.toFixed(0).padStart(3)} %`
      if (!isWholeRun) return `${share}  ${folder}`
      const allowed = budget[folder] ?? 0
      const mark = percent > allowed ? '  OVER BUDGET' : ''
      return `${share} of ${String(allowed).padStart(3)} %  ${folder}${mark}`
    }),
  ]
}
