// Runs a demo of the packaged executable, in a network without a route where the machine can make one.
import { expect } from 'vitest'
import { findExecutable, runExecutable } from '../command/run-executable.ts'
import { whenPresent } from '../runner/requires.ts'
import { type EnclosedRun, enclosureTools, runEnclosed } from './enclosure.ts'
import { findEgress } from './parse-dials.ts'

/** No program can be found, nothing can be written at home: only a place for temporary files is left. */
export const bareEnvironment = (temp: string) => ({ PATH: '/nonexistent', HOME: '/nonexistent', TMPDIR: temp })

/** The demo, kept in `dir`, with its report; it must end well. */
export async function runDemo(words: readonly string[], dir: string, cwd: string, temp: string): Promise<EnclosedRun> {
  const all = ['demo', ...words, '--dir', dir, '--keep', '--json']
  const options = { env: bareEnvironment(temp), cwd }
  const run = enclosureTools.isPresent
    ? await runEnclosed(findExecutable(), all, options)
    : { ...(await runExecutable(all, options)), dials: [] }
  expect(run, run.stderr).toMatchObject({ exit: 0 })
  return run
}

/** Declares the test that the demo reached addresses of this machine alone, and some of them. */
export function testEgress(demo: () => EnclosedRun): void {
  whenPresent(enclosureTools)('dials nothing outside of the machine, and resolves no name', () => {
    expect(demo().dials.length).toBeGreaterThan(1)
    expect(findEgress(demo().dials)).toEqual([])
  })
}
