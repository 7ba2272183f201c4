// Expressions with the times that they must have, and expressions that are refused.

/** After Monday 2026-11-23T00:00Z. */
export const monday = '2026-11-23T00:00:00Z'

export const fieldCases: readonly (readonly [expression: string, times: readonly string[]])[] = [
  ['30 2 * * *', ['2026-11-23T02:30', '2026-11-24T02:30']],
  ['*/5 * * * *', ['2026-11-23T00:05', '2026-11-23T00:10']],
  ['*/7 23 * * *', ['2026-11-23T23:00', '2026-11-23T23:07']],
  ['10-20/5,40 6 * * *', ['2026-11-23T06:10', '2026-11-23T06:15', '2026-11-23T06:20', '2026-11-23T06:40']],
  ['15 30 2 * * 1-5', ['2026-11-23T02:30:15', '2026-11-24T02:30:15']],
  ['*/20 * * * * *', ['2026-11-23T00:00:20', '2026-11-23T00:00:40', '2026-11-23T00:01']],
  ['0 0 1 jan *', ['2027-01-01T00:00', '2028-01-01T00:00']],
  ['0 0 1 MAR-May *', ['2027-03-01T00:00', '2027-04-01T00:00', '2027-05-01T00:00', '2028-03-01T00:00']],
  ['0 0 * * sun', ['2026-11-29T00:00', '2026-12-06T00:00']],
  ['0 0 * * 0', ['2026-11-29T00:00', '2026-12-06T00:00']],
  ['0 0 * * 7', ['2026-11-29T00:00', '2026-12-06T00:00']],
  ['0 0 * * Fri-7', ['2026-11-27T00:00', '2026-11-28T00:00', '2026-11-29T00:00', '2026-12-04T00:00']],
  ['00 03 * * *', ['2026-11-23T03:00', '2026-11-24T03:00']],
  ['  0   3 * * * ', ['2026-11-23T03:00', '2026-11-24T03:00']],
  ['59 59 23 31 12 *', ['2026-12-31T23:59:59', '2027-12-31T23:59:59']],
  ['@hourly', ['2026-11-23T01:00', '2026-11-23T02:00']],
  ['@daily', ['2026-11-24T00:00', '2026-11-25T00:00']],
  ['@weekly', ['2026-11-29T00:00', '2026-12-06T00:00']],
  ['@monthly', ['2026-12-01T00:00', '2027-01-01T00:00']],
]

export const leapDayCases: typeof fieldCases = [
  ['0 0 29 2 *', ['2028-02-29T00:00', '2032-02-29T00:00']],
  // The leap days of 2100 and later centuries are left out.
  ['0 0 29 2 */7', ['2032-02-29T00:00', '2060-02-29T00:00', '2088-02-29T00:00', '2128-02-29T00:00']],
  ['0 12 31 * *', ['2026-12-31T12:00', '2027-01-31T12:00', '2027-03-31T12:00', '2027-05-31T12:00']],
]

/** Vixie cron: two restricted day fields match by either; with an asterisk at the start of one, by both. */
export const dayCases: typeof fieldCases = [
  ['0 0 1,15 * wed', ['2026-11-25T00:00', '2026-12-01T00:00', '2026-12-02T00:00']],
  ['0 0 */2 * wed', ['2026-11-25T00:00', '2026-12-09T00:00', '2026-12-23T00:00']],
  ['0 0 13 * *', ['2026-12-13T00:00', '2027-01-13T00:00']],
  ['0 0 1-7 * */7', ['2026-12-06T00:00', '2027-01-03T00:00']],
]

export const refusedExpressions: readonly string[] = [
  '__proto__',
  'constructor',
  ...['', ' ', 'every night', '* * * *', '* * * * * * *', '0 3 * * *\n', '0\t3 * * *', '0 3 * * * # nightly'],
  ...['61 * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 0 *', '* * * 13 *', '* * * * 8'],
  ...['60 * * * * *', '-1 * * * *', '+1 * * * *', '1.5 * * * *', '1e1 * * * *', '0x1 * * * *', '100 * * * *'],
  ...['10-5 * * * *', '*/0 * * * *', '*/61 * * * *', '5/10 * * * *', '1--2 * * * *', '1- * * * *', '-2 * * * *'],
  ...['1, * * * *', ',1 * * * *', '1,,2 * * * *', '*-5 * * * *', '** * * * *', '*/ * * * *', '*/5/2 * * * *'],
  ...[
    '0 0 L * *',
    '0 0 LW * *',
    '0 0 15W * *',
    '0 0 * * 5L',
    '0 0 * * mon#1',
    '0 0 ? * *',
    '0 0 * * +mon',
    'H 0 * * *',
  ],
  ...['0 jan * * *', '0 0 * * jan', '0 0 * mon *', '0 0 * january *', '0 0 * * monday', '0 0 1 * mox'],
  ...['@yearly', '@annually', '@reboot', '@midnight', '@DAILY', '@every 5m', ' @daily', '@daily 3', 'TZ=UTC 0 3 * * *'],
  ...['٣ * * * *', '０ ３ * * *', '0 3 * * ＊', `${'0,'.repeat(64)}0 * * * *`],
]

/** Complete in their form, and without a day. */
export const impossibleExpressions: readonly string[] = [
  '0 0 30 2 *',
  '0 0 31 2 *',
  '0 0 31 4,6,9,11 *',
  '0 0 30,31 feb *',
  '0 0 30 2 */2',
]

type ZoneCase = readonly [says: string, expression: string, zone: string, after: string, times: readonly string[]]

/** In 2026 New York changes at 07:00Z on March 8 and 06:00Z on November 1, Lord Howe by half an hour. */
export const zoneCases: readonly ZoneCase[] = [
  ['a plain day', '30 2 * * *', 'America/New_York', '2026-06-01T00:00Z', ['2026-06-01T06:30', '2026-06-02T06:30']],
  ['before a gap', '30 1 * * *', 'America/New_York', '2026-03-08T00:00Z', ['2026-03-08T06:30', '2026-03-09T05:30']],
  [
    'in a gap: at its end',
    '30 2 * * *',
    'America/New_York',
    '2026-03-08T00:00Z',
    ['2026-03-08T07:00', '2026-03-09T06:30'],
  ],
  [
    'several in a gap: once',
    '0,20,40 2 * * *',
    'America/New_York',
    '2026-03-08T06:00Z',
    ['2026-03-08T07:00', '2026-03-09T06:00'],
  ],
  [
    'at the end of a gap',
    '0 2,3 * * *',
    'America/New_York',
    '2026-03-08T06:00Z',
    ['2026-03-08T07:00', '2026-03-09T06:00'],
  ],
  [
    'repeated: the first',
    '30 1 * * *',
    'America/New_York',
    '2026-11-01T00:00Z',
    ['2026-11-01T05:30', '2026-11-02T06:30'],
  ],
  ['after a repeat', '0 2 * * *', 'America/New_York', '2026-11-01T00:00Z', ['2026-11-01T07:00', '2026-11-02T07:00']],
  ['asked within a repeat', '30 1 * * *', 'America/New_York', '2026-11-01T06:10Z', ['2026-11-02T06:30']],
  [
    'hourly over a gap',
    '@hourly',
    'America/New_York',
    '2026-03-08T05:30Z',
    ['2026-03-08T06:00', '2026-03-08T07:00', '2026-03-08T08:00'],
  ],
  [
    'hourly over a repeat',
    '@hourly',
    'America/New_York',
    '2026-11-01T04:30Z',
    ['2026-11-01T05:00', '2026-11-01T06:00', '2026-11-01T07:00'],
  ],
  [
    'periodic in a gap: not that day',
    '*/30 2 * * *',
    'America/New_York',
    '2026-03-08T05:30Z',
    ['2026-03-09T06:00', '2026-03-09T06:30'],
  ],
  [
    'periodic in a repeat: twice',
    '*/30 1 * * *',
    'America/New_York',
    '2026-11-01T04:30Z',
    ['2026-11-01T05:00', '2026-11-01T05:30', '2026-11-01T06:00', '2026-11-01T06:30', '2026-11-02T06:00'],
  ],
  ['midnight in a gap', '@daily', 'America/Santiago', '2026-09-05T12:00Z', ['2026-09-06T04:00', '2026-09-07T03:00']],
  ['midnight repeated', '@daily', 'America/Santiago', '2026-04-04T12:00Z', ['2026-04-05T04:00', '2026-04-06T04:00']],
  [
    'half an hour forward',
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-03T12:00Z',
    ['2026-10-03T15:30', '2026-10-04T15:15'],
  ],
  [
    'half an hour back',
    '45 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-04T12:00Z',
    ['2026-04-04T14:45', '2026-04-05T15:15'],
  ],
  [
    'a day that a zone left out',
    '0 12 30 12 *',
    'Pacific/Apia',
    '2011-12-29T00:00Z',
    ['2011-12-30T10:00', '2012-12-29T22:00'],
  ],
  [
    'an offset of minutes',
    '0 0 * * *',
    'Asia/Kathmandu',
    '2026-11-23T00:00Z',
    ['2026-11-23T18:15', '2026-11-24T18:15'],
  ],
]

export const tickCases: readonly (readonly [expression: string, tick_minutes: number, isRefused: boolean])[] = [
  ['@hourly', 30, false],
  ['@hourly', 60, false],
  ['@hourly', 61, true],
  ['@daily', 1_440, false],
  ['*/30 * * * *', 30, false],
  ['*/29 * * * *', 30, true],
  ['*/30 * * * *', 60, true],
  ['* * * * *', 2, true],
  ['* * * * * *', 1, true],
  ['0,29 4 * * *', 30, true],
  // 23:45 and 00:00 are neighbours only where two days follow each other.
  ['0,45 0,23 * * *', 30, true],
  ['0 0,23 * * *', 61, true],
  ['0 0,23 * * 1,3,5', 61, false],
  ['0 0,23 * * sat,sun', 61, true],
  ['0 0,23 28,29 2 *', 61, true],
  ['0 0,23 1,31 * *', 61, true],
  ['0 0,23 1,30 2,4 *', 61, false],
]
