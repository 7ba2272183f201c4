// The federation of three sites over every network, with four times the sessions of the test; the seed changes nothing.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const sessions = 200
const file = 'test/engines/federation/federation.test.ts'

export const usual_seeds = 1

/** Throws with the output of the run. */
export async function soak(): Promise<Record<string, number>> {
  const env = { ...process.env, REQUIRE_REAL: '1', FEDERATED_SESSIONS: String(sessions) }
  const run = promisify(execFile)('node_modules/.bin/vitest', ['run', file], { cwd: repositoryRoot, env })
  await run.catch(({ stdout, stderr }: { stdout: string; stderr: string }) => {
    throw new Error(`the federation ended badly:\n${stdout}${stderr}`)
  })
  return { sessions }
}
