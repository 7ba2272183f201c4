// Keys as a person presses them: what is selected stays selected, and no key leads nowhere.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AdminView, findSelectedRow, handleKey, initialView, type PaneRowKeys, readKeyNames } from './view.ts'

const keys = { roles: ['site', 'consensus'], sessions: ['s1', 's2', 's3'], channels: [] } satisfies PaneRowKeys
const scrollMax = 5
const after = (...names: string[]): AdminView | undefined =>
  names.reduce<AdminView | undefined>((view, name) => view && handleKey(view, name, keys, scrollMax), initialView)

test('tab goes round the panes, back as well', () => {
  expect(['tab', 'backtab'].map((key) => after(key)?.pane)).toEqual(['channels', 'roles'])
  expect(after('tab', 'tab', 'tab')?.pane).toBe('sessions')
})

test('a door alone has roles and denials, and keys for sessions mean nothing there', () => {
  const proxyRows: PaneRowKeys = { roles: ['proxy'], denials: ['d1', 'd2'] }
  const then = (...names: string[]) =>
    names.reduce<AdminView | undefined>(
      (view, name) => view && handleKey(view, name, proxyRows, scrollMax),
      initialView,
    )
  expect(then('j')).toMatchObject({ pane: 'denials', selected: { denials: 'd2' } })
  expect(then('tab')?.pane).toBe('roles')
  expect(then('tab', 'tab')?.pane).toBe('denials')
  expect(then('f', '3', 'enter')).toMatchObject({ pane: 'denials', filter: undefined, overlay: 'detail' })
})

test('rows are walked to the ends and no further', () => {
  expect(after('j')?.selected.sessions).toBe('s2')
  expect(after('down', 'j', 'j', 'j')?.selected.sessions).toBe('s3')
  expect(after('end', 'k')?.selected.sessions).toBe('s2')
  expect(after('end', 'up', 'home', 'up')?.selected.sessions).toBe('s1')
})

test('the selection stays with its row when others come before it, and goes to the first when it is gone', () => {
  const { selected } = after('j') ?? initialView
  expect(findSelectedRow(selected.sessions, ['s0', ...keys.sessions])).toBe(2)
  expect(findSelectedRow(selected.sessions, ['s1', 's3'])).toBe(0)
})

test('enter opens the row in sight, escape goes back; where there is no row, nothing opens', () => {
  expect(after('enter')).toMatchObject({ overlay: 'detail', selected: { sessions: 's1' } })
  expect(after('enter', 'j', 'j', 'k')).toMatchObject({ overlay: 'detail', scroll: 1 })
  expect(after('enter', 'pagedown', 'j', 'k')).toMatchObject({ scroll: 4 })
  expect(after('enter', 'end', 'home')).toMatchObject({ scroll: 0 })
  expect(after('enter', 'j', 'escape')).toMatchObject({ overlay: 'nothing', scroll: 0 })
  expect(after('tab', 'enter')?.overlay).toBe('nothing')
  expect(after('?', '?')?.overlay).toBe('nothing')
})

test('digits choose a filter, f goes through all of them and back to all', () => {
  expect(after('4')?.filter).toBe('IN_CONFLICT')
  expect(after('4', '0')?.filter).toBeUndefined()
  expect(after('f')?.filter).toBe('PROPOSED')
  expect(after('6')?.filter).toBe('AWAITING ME')
  expect(after(...'fffffff')?.filter).toBeUndefined()
  expect(after('tab', '9')).toMatchObject({ pane: 'channels', filter: undefined })
})

test('q leaves from everywhere; other keys, whatever they are, do not', () => {
  expect([after('q'), after('enter', 'q'), after('?', 'q')]).toEqual([undefined, undefined, undefined])
  const known = [
    'tab',
    'backtab',
    'up',
    'down',
    'left',
    'right',
    'enter',
    'escape',
    'home',
    'end',
    'pageup',
    'pagedown',
  ]
  const key = fc.oneof(fc.constantFrom(...known), fc.string({ minLength: 1, maxLength: 1 }))
  fc.assert(
    fc.property(fc.array(key.filter((name) => name !== 'q')), (names) => {
      const view = after(...names) ?? expect.fail('a key left')
      const rows: readonly string[] = keys[view.pane as keyof typeof keys]
      expect(view.scroll).toBeGreaterThanOrEqual(0)
      expect(view.scroll).toBeLessThanOrEqual(scrollMax)
      expect(rows.slice(findSelectedRow(view.selected[view.pane], rows))[0]).toBe(view.selected[view.pane] ?? rows[0])
    }),
  )
})

test('keys have names, bursts of them as well; chords have none', () => {
  expect(readKeyNames('', { tab: true, shift: true })).toEqual(['backtab'])
  expect(readKeyNames('', { return: true })).toEqual(['enter'])
  expect(readKeyNames('q', {})).toEqual(['q'])
  expect(readKeyNames('0j\t', {})).toEqual(['0', 'j', 'tab'])
  expect(readKeyNames('q', { ctrl: true })).toEqual([])
})
