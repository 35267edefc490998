/** What stands behind packages that examples import for their types alone. */
export {}
