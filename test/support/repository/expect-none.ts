// Fails with each finding on a line of its own, so that one run of a test names everything that is to be changed.
import { expect } from 'vitest'

export function expectNone(findings: readonly unknown[]): void {
  const lines = findings.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  expect(findings, `\n${lines.join('\n')}\n`).toEqual([])
}
