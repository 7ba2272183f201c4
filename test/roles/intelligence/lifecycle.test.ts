// The lifecycle on SQLite, over real HTTP.
import { test } from 'vitest'
import { sharedIntelligence } from './intelligence-world.ts'
import { followsTheModel, survivesACrowd } from './lifecycle.ts'

const runs = (usual: number) => Number(process.env.FAST_CHECK_RUNS ?? usual)
const world = sharedIntelligence()

test('no sequence of commands leaves what the interface’s table allows, or loses a step', () =>
  followsTheModel(world(), runs(25)))

test('no crowd of commands does, either', () => survivesACrowd(world(), runs(20)))
