// Completion as the shells themselves do it, where they are there.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand } from '../support/command/run-command.ts'
import { requires } from '../support/runner/requires.ts'

const { dir, remove } = createScratchFolder('completion')
const quarantineCommands = ['approve', 'dismiss', 'list', 'request', 'show']
const script = (shell: string) => path.join(dir, shell)

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { exit, stdout } = await runCommand(['completion', shell])
    expect(exit).toBe(0)
    writeFileSync(script(shell), stdout)
  }
})
afterAll(remove)

/** The words that bash would offer after the typed ones, the last of them incomplete. */
function completeWords(...words: string[]): string[] {
  const typed = ['platform', ...words].map((word) => `'${word}'`).join(' ')
  const run = `source ${script('bash')}; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _platform; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', run], { encoding: 'utf8', cwd: dir }).trim().split('\n')
}

requires('bash')('bash offers commands, the commands of a group, and the options of a command', () => {
  expect(completeWords('')).toEqual(expect.arrayContaining(['consensus', 'keys', 'version']))
  expect(completeWords('tok')).toEqual(['token'])
  expect(completeWords('filedrop', 'quarantine', '')).toEqual(quarantineCommands)
  expect(completeWords('token', 'mint', '--t')).toEqual(['--tenant', '--ttl'])
  expect(completeWords('token', 'mint', '--tenant', 'acme', '--su')).toEqual(['--subject'])
})

requires('zsh')('zsh offers the commands of a group, and the options of a command', () => {
  const inZsh = (words: string) => {
    const stand = `compdef() { : }; source ${script('zsh')}; compadd() { shift; print -l -- "$@" }`
    const run = `${stand}; words=(platform ${words} ''); CURRENT=$#words; _platform`
    return execFileSync('zsh', ['-f', '-c', run], { encoding: 'utf8' }).trim().split('\n')
  }
  expect(inZsh('token')).toEqual(['exchange', 'inspect', 'mint', 'revoke'])
  expect(inZsh('filedrop quarantine')).toEqual(quarantineCommands)
  expect(inZsh('token mint --tenant acme')).toContain('--subject')
})

requires('fish')('fish offers the commands of a group, and the options of a command', () => {
  const inFish = (line: string) =>
    execFileSync('fish', ['-N', '-c', `source ${script('fish')}; complete -C '${line}'`], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((offer) => offer.split('\t')[0])
  expect(inFish('platform token ')).toEqual(expect.arrayContaining(['inspect', 'mint', 'revoke']))
  expect(inFish('platform filedrop quarantine ')).toEqual(quarantineCommands)
  expect(inFish('platform token mint --t')).toEqual(['--tenant', '--ttl'])
})

test('a shell that is not known is a usage error', async () => {
  expect((await runCommand(['completion', 'tcsh'])).exit).toBe(2)
})
