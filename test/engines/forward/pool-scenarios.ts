// Scenarios of pools for the comparison with nginx: members that refuse, close, answer badly or recover.
import type { RawConnection } from '../../support/proxy/raw-upstream.ts'
import type { ScenarioDifference, ScenarioOutcome } from './forward-scenario.ts'

/** Answers each read; `refuses`: nothing listens there. */
export type PoolMemberAnswer = 'refuses' | ((connection: RawConnection, requests: number) => void)

export type PoolStage = {
  /** Sends a request on a connection of its own, and returns the status of the reply. */
  request(method: string): Promise<number>
  /** Requests that have reached each member. */
  arrivals(): readonly number[]
}

export type PoolScenario = {
  readonly name: string
  readonly members: readonly PoolMemberAnswer[]
  readonly play: (stage: PoolStage) => Promise<ScenarioOutcome>
  readonly difference?: ScenarioDifference
}

const replies =
  (text: string): PoolMemberAnswer =>
  ({ socket }) =>
    void socket.write(text, 'latin1')
const serves = replies('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
const closes: PoolMemberAnswer = ({ socket }) => void socket.end()

/** Statuses of requests one after the other, and where they arrived. */
const requests =
  (methods: readonly string[]): PoolScenario['play'] =>
  async ({ request, arrivals }) => {
    const statuses: number[] = []
    for (const method of methods) statuses.push(await request(method))
    return { statuses: statuses.join(), arrivals: arrivals().join() }
  }
const repeat = (method: string, times: number) => Array.from({ length: times }, () => method)

export const poolScenarios: readonly PoolScenario[] = [
  { name: 'two members that serve', members: [serves, serves], play: requests(repeat('GET', 6)) },
  {
    name: 'a member that refuses connections',
    members: ['refuses', serves],
    play: requests(['GET', 'POST', 'PUT', 'POST']),
  },
  { name: 'GET at a member that closes', members: [closes, serves], play: requests(['GET']) },
  { name: 'PUT at a member that closes', members: [closes, serves], play: requests(['PUT']) },
  { name: 'DELETE at a member that closes', members: [closes, serves], play: requests(['DELETE']) },
  { name: 'POST at a member that closes', members: [closes, serves], play: requests(['POST']) },
  { name: 'PATCH at a member that closes', members: [closes, serves], play: requests(['PATCH']) },
  {
    name: 'PROPFIND at a member that closes',
    members: [closes, serves],
    play: requests(['PROPFIND']),
    difference: {
      reason: 'nginx sends all methods but POST, LOCK and PATCH again; here those of RFC 9110 that are idempotent',
      values: { statuses: ['502', '200'], arrivals: ['1,0', '1,1'] },
    },
  },
  {
    name: 'a member that closes within its head',
    members: [({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nContent-'), serves],
    play: requests(['GET']),
  },
  {
    name: 'a member whose head is malformed',
    members: [({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nbad\r\n\r\n'), serves],
    play: requests(['GET']),
    difference: { reason: 'nginx passes over a line without a colon', values: { statuses: ['502', '200'] } },
  },
  {
    name: 'a member that answers 503',
    members: [replies('HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n'), serves],
    play: requests(['GET', 'GET']),
  },
  { name: 'a member that always closes is ejected', members: [closes, serves], play: requests(repeat('GET', 20)) },
  {
    name: 'a member that always answers 503',
    members: [replies('HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n'), serves],
    play: requests(repeat('GET', 12)),
    difference: {
      reason: 'a server in front of a member reports so that it is unavailable; nginx counts no answer as a failure',
      values: {
        statuses: [
          '503,200,503,200,503,200,200,200,200,200,200,200',
          '503,200,503,200,503,200,503,200,503,200,503,200',
        ],
        arrivals: ['3,9', '6,6'],
      },
    },
  },
  {
    name: 'members that all close',
    members: [closes, closes],
    play: requests(repeat('GET', 8)),
    difference: {
      reason:
        'ejected members are used when no other is left: requests that fail by their own content must not close the pool',
      values: { arrivals: ['8,8', '3,3'] },
    },
  },
  { name: 'members that all refuse', members: ['refuses', 'refuses'], play: requests(repeat('GET', 4)) },
]
