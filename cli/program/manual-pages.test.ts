// Man pages from definitions: every parameter, and no text that man(7) reads as a request.
import { expect, test } from 'vitest'
import { command } from './command.ts'
import { renderManual } from './manual-pages.ts'
import { flag, required, text } from './params.ts'

const definition = command({
  words: 'keys list',
  summary: 'List keys',
  notes: '.so /etc/passwd\nwith a\\backslash',
  positionals: { site: required(text('SITE', 'Site – of the key')) },
  options: { onlyActive: flag('Only active keys') },
  example: "platform keys list x | grep '^a'",
  run: async () => 0 as const,
})

test('a page names what is typed, and shows text as text', () => {
  const pages = renderManual([definition], '1.0.0')
  expect(Object.keys(pages)).toEqual(['platform.1', 'platform-keys-list.1'])
  const page = pages['platform-keys-list.1'] ?? ''
  expect(page).toContain('.B platform keys list\n\\fISITE\\fR\n')
  expect(page).toContain('\\fB\\-\\-only\\-active\\fR\nOnly active keys.')
  expect(page).toContain('\n\\&.so /etc/passwd with a\\ebackslash\n')
  expect(page).toContain('Site \\[u2013] of the key')
  expect(page).not.toMatch(/[^\n\x20-\x7e]/)
})
