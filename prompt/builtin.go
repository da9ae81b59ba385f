package prompt

// Builtin returns the built-in prompts about data.
func Builtin() []Prompt {
	return []Prompt{conventions(), relations(), exploreDatabase(), classOverview(), countBy(), recentActivity(), findRelationship(), createdInRange(), reviewMyChanges()}
}

// class returns the argument that names the class of a prompt.
func class(name, description string) Argument {
	return Argument{Name: name, Description: description, Required: true, Complete: classNames}
}
