// Completion as the shells themselves do it, where they are there.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { platform, scratch } from '../support/command-line.ts'
import { requires } from '../support/requires.ts'

const { dir, remove } = scratch('completion')
const inQuarantine = ['approve', 'list', 'request', 'show']
const script = (shell: string) => path.join(dir, shell)

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { exit, stdout } = await platform(['completion', shell])
    expect(exit).toBe(0)
    writeFileSync(script(shell), stdout)
  }
})
afterAll(remove)

/** What bash would offer for the words typed, the last of them still being typed. */
function offered(...words: string[]): string[] {
  const typed = ['platform', ...words].map((word) => `'${word}'`).join(' ')
  const run = `source ${script('bash')}; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _platform; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', run], { encoding: 'utf8', cwd: dir }).trim().split('\n')
}

requires('bash')('bash offers commands, the commands of a group, and the options of a command', () => {
  expect(offered('')).toEqual(expect.arrayContaining(['consensus', 'keys', 'version']))
  expect(offered('tok')).toEqual(['token'])
  expect(offered('filedrop', 'quarantine', '')).toEqual(inQuarantine)
  expect(offered('token', 'mint', '--t')).toEqual(['--tenant', '--ttl'])
  expect(offered('token', 'mint', '--tenant', 'acme', '--su')).toEqual(['--subject'])
})

requires('zsh')('zsh offers the commands of a group, and the options of a command', () => {
  const inZsh = (words: string) => {
    const stand = `compdef() { : }; source ${script('zsh')}; compadd() { shift; print -l -- "$@" }`
    const run = `${stand}; words=(platform ${words} ''); CURRENT=$#words; _platform`
    return execFileSync('zsh', ['-f', '-c', run], { encoding: 'utf8' }).trim().split('\n')
  }
  expect(inZsh('token')).toEqual(['exchange', 'inspect', 'mint', 'revoke'])
  expect(inZsh('filedrop quarantine')).toEqual(inQuarantine)
  expect(inZsh('token mint --tenant acme')).toContain('--subject')
})

requires('fish')('fish offers the commands of a group, and the options of a command', () => {
  const inFish = (line: string) =>
    execFileSync('fish', ['-N', '-c', `source ${script('fish')}; complete -C '${line}'`], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((offer) => offer.split('\t')[0])
  expect(inFish('platform token ')).toEqual(expect.arrayContaining(['inspect', 'mint', 'revoke']))
  expect(inFish('platform filedrop quarantine ')).toEqual(inQuarantine)
  expect(inFish('platform token mint --t')).toEqual(['--tenant', '--ttl'])
})

test('a shell that is not known is a usage error', async () => {
  expect((await platform(['completion', 'tcsh'])).exit).toBe(2)
})
