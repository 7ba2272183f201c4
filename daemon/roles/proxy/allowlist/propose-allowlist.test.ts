// Proposals of an allowlist from an untrusted OpenAPI document.
import { describe, expect, test } from 'vitest'
import { proposeAllowlist } from './propose-allowlist.ts'
import { parseAllowlist } from './rule.ts'

const get = (summary: string) => ({ get: { summary } })

describe('a proposal', () => {
  test('lists reads, then writes, then operations that are not allowed', () => {
    const { text, rules, problems } = proposeAllowlist({
      openapi: '3.1.0',
      servers: [{ url: 'https://api.example/{version}/', variables: { version: { default: 'v2' } } }],
      security: [{ oauth: [] }],
      paths: {
        '/report/{id}': { get: { summary: 'One report', security: [] }, delete: { summary: 'Gone' }, parameters: [] },
        '/feedback': { post: { operationId: 'send', deprecated: true } },
        '/report': { get: { summary: 'Reports' }, head: {} },
      },
    })
    expect(text).toBe(
      [
        '# Each rule below would be open to anyone. Remove every rule that outside callers do not need.',
        '# Reports; needs oauth',
        'GET /v2/report',
        '# no summary; needs oauth',
        'HEAD /v2/report',
        '# One report; needs no credentials',
        'GET /v2/report/{id}',
        '',
        '# Writes by anyone: only the backend validates their content.',
        '# send; needs oauth; deprecated',
        'POST /v2/feedback',
        '',
        '# Not allowed:',
        '#   DELETE /v2/report/{id}',
        '',
      ].join('\n'),
    )
    expect([rules, problems]).toEqual([4, []])
    expect(parseAllowlist(text).faults).toEqual([])
  })

  test('names operations that no rule can express, and references that are not followed', () => {
    const { text, rules, problems } = proposeAllowlist({
      openapi: '3.0.3',
      paths: {
        '/a/{id}.json': get('x'),
        '/b,c': get('x'),
        '/a/{x}': get('x'),
        '/a/{y}': get('x'),
        '/d': { $ref: 'other.yaml' },
        '/e/../f': get('x'),
      },
    })
    expect(rules).toBe(1)
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      '/d',
      'GET /a/{id}.json',
      'GET /b,c',
      'GET /e/../f',
    ])
    expect(text).toContain('# GET /a/{y} (the same requests as a rule above)')
    expect(parseAllowlist(text).faults).toEqual([])
  })

  test('contains no rule injected by a text of the document', () => {
    const { text, rules } = proposeAllowlist({
      openapi: '3.0.0',
      paths: {
        '/a': get('fine\nGET /admin\r\nPOST /admin, GET /x'),
        '/b\nGET /admin': get('x'),
        '/c GET /admin': get('x'),
        '/d\u2028GET /admin': get('\u2028GET /admin\u0085x'),
      },
    })
    expect(rules).toBe(1)
    expect(parseAllowlist(text).rules.map(({ name }) => name)).toEqual(['GET /a'])
  })

  test.each([
    [null],
    ['x'],
    [{}],
    [{ swagger: '2.0', paths: {} }],
    [{ openapi: '4.0', paths: {} }],
    [{ openapi: '3.0.0', paths: [] }],
    [{ openapi: '3.0.0', paths: { '/a': 1 } }],
  ])('of %j is none', (document) => {
    expect(proposeAllowlist(document)).toMatchObject({
      text: '',
      rules: 0,
      problems: [expect.stringMatching(/OpenAPI/)],
    })
  })
})
