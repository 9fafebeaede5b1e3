import { afterAll } from 'vitest'
import { removeTemporary } from './temporary.ts'

// Registered before any hook of a test file, so that it runs after all of them.
afterAll(removeTemporary)
