// The lifecycle on SQLite, over real HTTP.
import { test } from 'vitest'
import { setUpIntelligenceSite } from './intelligence-site.ts'
import { expectFollowsModel, expectSurvivesCrowd } from './lifecycle-properties.ts'

const runs = (usual: number) => Number(process.env.FAST_CHECK_RUNS ?? usual)
const world = setUpIntelligenceSite()

test('no sequence of commands leaves what the interface’s table allows, or loses a step', () =>
  expectFollowsModel(world(), runs(25)))

test('no crowd of commands does, either', () => expectSurvivesCrowd(world(), runs(20)))
