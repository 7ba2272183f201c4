// The thread analyses a conflict to the same bits as the event loop would, one after the other, and ends with its caller.
import { expect, test } from 'vitest'
import { buildOpinions } from '../../../test/support/consensus/opinions.ts'
import { runToEnd } from '../../kernel/role/run-to-end.ts'
import { decide } from '../../roles/consensus/combine/decide.ts'
import { analyseConflict, describeConflict } from '../../roles/consensus/combine/dissent.ts'
import { compareCanonicallyThenById } from '../../roles/consensus/combine/opinion.ts'
import { quorumPolicy } from '../../shared/quorum-policy/quorum-policy.ts'
import { openConflictAnalyser } from './open-conflict-analyser.ts'

function buildJob(contributors: number) {
  const policy = quorumPolicy.parse({ m: 2, n: contributors, conflict_threshold: 0.1 })
  const opinions = buildOpinions(
    ...Array.from({ length: contributors }, (_, at) => [((at * 7) % 10) / 10, 0.3 + ((at * 31) % 97) / 200] as const),
  ).toSorted(compareCanonicallyThenById)
  const decision = decide(policy, opinions)
  if (decision.state !== 'IN_CONFLICT') throw new Error(`the session is ${decision.state}`)
  return { policy, described: describeConflict(policy, opinions, decision) }
}

test('an analysis of the thread is that of the event loop, to the bit', async () => {
  const analyser = openConflictAnalyser()
  const jobs = [buildJob(200), buildJob(70)]
  const { signal } = new AbortController()
  const analyses = await Promise.all(jobs.map((job) => analyser.analyse(job, signal)))
  expect(analyses).toEqual(jobs.map(({ policy, described }) => runToEnd(analyseConflict(policy, described))))
})

test('an analysis ends with its caller, and the next one takes its turn', async () => {
  const analyser = openConflictAnalyser()
  const leaving = new AbortController()
  const left = analyser.analyse(buildJob(200), leaving.signal)
  const next = analyser.analyse(buildJob(70), new AbortController().signal)
  leaving.abort(new Error('the caller left'))
  await expect(left).rejects.toThrow('the caller left')
  expect((await next).influence).toHaveLength(70)
})
