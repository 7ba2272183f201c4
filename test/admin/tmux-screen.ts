// A terminal for tests: what a program shows is read, keys are pressed, as a person would; tmux is the terminal.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'

const waitOptions = { timeout: 30_000, interval: 50 }

export type TmuxScreen = {
  /** The screen now, line by line. */
  text(): string
  /** The same with its colours, as escape sequences. */
  styledText(): string
  /** Resolves with the screen once it fits; rejects with the last screen when it never does. */
  waitFor(wanted: RegExp): Promise<string>
  /** Resolves once nothing that fits is seen. */
  waitUntilGone(unwanted: RegExp): Promise<void>
  /** Keys by tmux's names: `Enter`, `Escape`, `Tab`, `j`. */
  press(...keys: string[]): void
  /** Types a line and enters it. */
  type(line: string): void
  resize(columns: number, lines: number): void
  /** Whether a program has the alternate screen, and whether the cursor is seen. */
  state(): { readonly isAlternate: boolean; readonly hasCursor: boolean }
  close(): void
}

/** A shell in a terminal of 80 by 24 with a server of its own. */
export function openTmuxScreen(env: Readonly<Record<string, string>> = {}): TmuxScreen {
  const folder = mkdtempSync(path.join(tmpdir(), 'tmux-'))
  const { PATH = '' } = process.env
  const around = { PATH, HOME: folder, LANG: 'C.UTF-8', TERM: 'xterm-256color', PS1: '$ ', ...env }
  const tmux = (...words: string[]) =>
    execFileSync('tmux', ['-u', '-S', path.join(folder, 'socket'), '-f', '/dev/null', ...words], {
      env: around,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  tmux('new-session', '-d', '-x', '80', '-y', '24', 'sh')
  const seen = () => tmux('capture-pane', '-p')
  return {
    text: seen,
    styledText: () => tmux('capture-pane', '-p', '-e'),
    async waitFor(wanted) {
      await expect.poll(seen, waitOptions).toMatch(wanted)
      return seen()
    },
    waitUntilGone: (unwanted) => expect.poll(seen, waitOptions).not.toMatch(unwanted),
    press: (...keys) => void tmux('send-keys', ...keys),
    type: (line) => {
      tmux('send-keys', '-l', line)
      tmux('send-keys', 'Enter')
    },
    resize: (columns, lines) => void tmux('resize-window', '-x', String(columns), '-y', String(lines)),
    state() {
      const [alternate, cursor] = tmux('display-message', '-p', '#{alternate_on} #{cursor_flag}').trim().split(' ')
      return { isAlternate: alternate === '1', hasCursor: cursor === '1' }
    },
    close() {
      tmux('kill-server')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
