// Equal faults of many paths must be one line, and its command must reach all of them and nothing else.
import { expect, test } from 'vitest'
import { type PathFault, reportPathFaults } from './path-faults.ts'

const open = (path: string, below = '/site/keys'): PathFault => ({
  path,
  root: below,
  fault: 'can be reached by others (mode 644)',
  command: 'chmod 600',
  test: '-type f -perm 644',
})

test('one path is reported by its name', () => {
  expect(reportPathFaults('permissions.wrong', [open('/site/keys/a')])).toEqual([
    {
      code: 'permissions.wrong',
      check: 'permissions',
      state: 'problem',
      detail: '/site/keys/a can be reached by others (mode 644)',
      remedy: 'chmod 600 /site/keys/a',
      paths: ['/site/keys/a'],
    },
  ])
})

test('a few are one finding, repaired by one command that names them', () => {
  const paths = ["/site/keys/it's", '/site/keys/b c']
  const found = reportPathFaults(
    'permissions.wrong',
    paths.map((path) => open(path)),
  )
  expect(found).toMatchObject([{ detail: expect.stringContaining('2 paths'), paths }])
  expect(found[0]?.remedy).toBe("chmod 600 '/site/keys/it'\\''s' '/site/keys/b c'")
})

test('many are repaired by a search in only the affected parts of the site', () => {
  const paths = Array.from({ length: 1_000 }, (_, at) => `/site/keys/${at}`)
  const found = reportPathFaults('permissions.wrong', [
    ...paths.map((path) => open(path)),
    open('/etc/p.yaml', '/etc/p.yaml'),
  ])
  expect(found).toHaveLength(1)
  expect(found[0]?.paths).toHaveLength(1_001)
  expect(found[0]?.detail).toContain('1001 paths')
  expect(found[0]?.remedy).toBe(
    "find /site/keys /etc/p.yaml -type f -perm 644 ! -path '*/in/new/*' ! -path '*/out/ready/*' -exec chmod 600 {} +",
  )
})

test('other faults are findings of their own', () => {
  const other = { ...open('/site/keys/b'), fault: 'can be reached by others (mode 666)', test: '-type f -perm 666' }
  expect(reportPathFaults('permissions.wrong', [open('/site/keys/a'), other, open('/site/keys/c')])).toMatchObject([
    { paths: ['/site/keys/a', '/site/keys/c'] },
    { paths: ['/site/keys/b'] },
  ])
  expect(reportPathFaults('permissions.wrong', [])).toEqual([])
})
