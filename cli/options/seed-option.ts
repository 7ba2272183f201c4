// The random seed of a resolution: the same seed and data give the same result from files, on a service and between sites.
import { integer, withDefault } from '../program/params.ts'

export const seedOption = withDefault(0, integer('N', 'Seed of the random generator', 0, 4_294_967_295))
