// The screen for labels of the packaged executable, in a terminal where a person types ahead.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { findExecutable } from '../support/command/run-executable.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'
import { requires } from '../support/runner/requires.ts'
import { openTmuxScreen, type TmuxScreen } from './tmux-screen.ts'

const inTerminal = requires('tmux')
let folder: string
let screen: TmuxScreen

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'label-screen-'))
  writeFileSync(path.join(folder, 'people.csv'), generateHouseholds(60, 0.2, 3).csv)
  screen = openTmuxScreen()
})
afterEach(() => {
  screen.close()
  rmSync(folder, { recursive: true })
})

inTerminal('keys typed before the first pair is shown are not answers', async () => {
  const labels = path.join(folder, 'labels.csv')
  const words = ['resolve', 'label', '--lens', path.join(folder, 'lens.yaml'), '--labels', labels]
  writeFileSync(
    path.join(folder, 'lens.yaml'),
    JSON.stringify({
      lens: 'own',
      version: '1.0.0',
      entity_type: 'person',
      fields: [
        { name: 'given', type: 'name' },
        { name: 'surname', type: 'name' },
        { name: 'phone', type: 'code' },
      ],
    }),
  )
  screen.type([findExecutable(), ...words, '--data', path.join(folder, 'people.csv')].join(' '))
  screen.press('y', 'y', 'n', 'Enter', 'n')
  expect(await screen.waitFor(/ of 100: /)).toContain('0 of 100: 0 y, 0 n, 0 unsure')
  screen.press('n')
  await screen.waitFor(/1 of 100: 0 y, 1 n, 0 unsure/)
  screen.press('q')
  await screen.waitFor(/0 matches, 1 non-match and 0 unsure/)
  expect(readFileSync(labels, 'utf8').trimEnd().split('\n')).toHaveLength(2)
})
