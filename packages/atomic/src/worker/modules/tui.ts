/** What stands behind `@earendil-works/pi-tui` and its twin. */
export * from "@earendil-works/pi-tui"
