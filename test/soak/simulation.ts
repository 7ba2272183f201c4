// Simulated histories by the thousand: each soak seed is a block of histories, which run where the file system is simulated.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const histories_per_block = 500

export const usual_seeds = 10

/** Throws with the output of the run, which names each history that ended badly and its faults. */
export async function soak(seed: number): Promise<Record<string, number>> {
  const env = {
    ...process.env,
    SIMULATED_FIRST: String((seed - 1) * histories_per_block + 1),
    SIMULATED_HISTORIES: String(histories_per_block),
  }
  const run = promisify(execFile)('node_modules/.bin/vitest', ['run', 'test/simulation'], { cwd: repositoryRoot, env })
  await run.catch((error: { stdout?: string }) => {
    throw new Error(error.stdout ?? String(error))
  })
  return { histories: histories_per_block }
}
