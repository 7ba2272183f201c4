// Lists the audit records of public requests.
import { listCommand } from '../../program/list-command.ts'
import { choice, instant, integer, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'proxy records',
  summary: 'List audit records of public requests, newest first',
  options: {
    verdict: choice('VERDICT', 'Only records with this verdict; not_allow is every one but allow', [
      ...['allow', 'denied', 'method_not_allowed', 'not_allow'],
    ]),
    status: integer('STATUS', 'Only responses with this status', 0, 599),
    rule: text('RULE', 'Only requests by this rule of the allowlist, such as "GET /api/v1/report"'),
    source: text('ADDRESS', 'Only requests of this client'),
    since: instant('TIME', 'Only records at or after this time'),
    until: instant('TIME', 'Only records before this time'),
  },
  example: 'platform proxy records --verdict not_allow --status 404 --since 2026-05-01',
  operation: 'proxy.record.list',
  input: ({ verdict, status, rule, source, since, until }) => ({ verdict, status, rule, source, since, until }),
  columns: ['at', 'source', 'method', 'path', 'verdict', 'reason', 'status', 'upstream_status', 'rule'],
  empty: 'no records match',
})
