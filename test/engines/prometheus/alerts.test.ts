// The shipped alerts by the real promtool: they load, and fire after their time and not before.
import { execFileSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { createEngineFolder } from '../../support/engines/server-process.ts'
import { repositoryRoot } from '../../support/repository/source-tree.ts'
import { requires } from '../../support/runner/requires.ts'

requires('promtool')('promtool loads the alerts, and they fire after their time', () => {
  const { folder, dispose } = createEngineFolder('promtool')
  try {
    copyFileSync(path.join(repositoryRoot, 'docs/prometheus-alerts.yaml'), path.join(folder, 'prometheus-alerts.yaml'))
    copyFileSync(path.join(import.meta.dirname, 'alert-tests.yaml'), path.join(folder, 'alert-tests.yaml'))
    const promtool = (...words: readonly string[]) => execFileSync('promtool', words, { cwd: folder, encoding: 'utf8' })
    expect(promtool('check', 'rules', 'prometheus-alerts.yaml')).toContain('SUCCESS')
    expect(promtool('test', 'rules', 'alert-tests.yaml')).toContain('SUCCESS')
  } finally {
    dispose()
  }
})
